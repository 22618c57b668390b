/** `fenceline size`: estimates processes, partitions, memory and disks for a workload. */
import { grouped } from '../../schemas/wording.js';
import { type Run, UsageError, type Values } from '../command.js';
import type { OptionsOf } from '../descriptions.js';
import { decimal, wholeNumber } from '../numbers.js';
import { type Estimate, estimate, type Workload } from '../size-estimate.js';

type SizeValues = Values<OptionsOf<'size'>>;

/** Prints what a workload needs, calculated from the measured capacity of a core. */
export const run: Run<OptionsOf<'size'>> = async (values) => {
  const result = estimate(workloadOf(values));
  if (values.json === true) console.log(JSON.stringify(result));
  else for (const [what, need] of linesOf(result)) console.log(`${what.padEnd(38)} ${need}`);
};

interface Option {
  readonly read: typeof decimal;
  readonly least: number;
  readonly most: number;
  readonly otherwise: number;
}

/** The maxima keep every product of the estimate finite. */
const numbers = {
  devices: { read: wholeNumber, least: 1, most: 1e12, otherwise: Number.NaN },
  every: { read: decimal, least: 0.001, most: 31_536_000, otherwise: 60 },
  fences: { read: wholeNumber, least: 0, most: 1e12, otherwise: 100_000 },
  events: { read: decimal, least: 0, most: 1_000, otherwise: 0.05 },
  deliveries: { read: decimal, least: 0, most: 1_000, otherwise: 1 },
  replicas: { read: wholeNumber, least: 1, most: 100, otherwise: 3 },
  'location-days': { read: decimal, least: 0, most: 36_500, otherwise: 7 },
  'event-days': { read: decimal, least: 0, most: 36_500, otherwise: 30 },
  'api-nodes': { read: wholeNumber, least: 1, most: 10_000, otherwise: 2 },
} satisfies Record<string, Option>;

function workloadOf(values: SizeValues): Workload {
  const number = (option: keyof typeof numbers): number => {
    const { read, otherwise, ...rule } = numbers[option];
    const given = values[option];
    return given === undefined ? otherwise : read(option, given, rule);
  };
  if (values.devices === undefined) throw new UsageError('size requires --devices, the number of devices');
  return {
    devices: number('devices'),
    everySeconds: number('every'),
    fences: number('fences'),
    eventsPerLocation: number('events'),
    deliveriesPerEvent: number('deliveries'),
    records: values.sdk === true ? 'sdk' : 'plain',
    replicas: number('replicas'),
    locationDays: number('location-days'),
    eventDays: number('event-days'),
    apiNodes: number('api-nodes'),
  };
}

const linesOf = (result: Estimate): readonly (readonly [what: string, need: string])[] => [
  ['locations a second', count(result.locationsPerSecond)],
  ['events a second', count(result.eventsPerSecond)],
  ['one embedded node on two cores', result.fitsOneNode ? 'is enough; what follows is for a cluster' : 'is too small'],
  ...Object.entries(result.processes).map(([role, needed]) => [`processes of ${role}`, count(needed)] as const),
  ['memory of a process with geofences', size(result.memoryPerNodeBytes)],
  ['partitions (locations.partitions)', count(result.partitions)],
  ['Kafka: brokers', count(result.kafka.brokers)],
  ['Kafka: in from clients', `${size(result.kafka.inBytesPerSecond)}/s`],
  ['Kafka: written to all disks', `${size(result.kafka.writtenBytesPerSecond)}/s`],
  ['Kafka: out to clients', `${size(result.kafka.outBytesPerSecond)}/s`],
  ['Kafka: all disks', size(result.kafka.diskBytes)],
  ['Redis: masters, each with a replica', count(result.redis.masters)],
  ['Redis: memory of all masters', size(result.redis.memoryBytes)],
  ['ClickHouse: rows a second', count(result.clickHouse.rowsPerSecond)],
  ['ClickHouse: shards of 2 cores, twice', count(result.clickHouse.shards)],
  ['ClickHouse: all disks', size(result.clickHouse.diskBytes)],
];

const count = (value: number): string => grouped(Math.round(value));

/** One kB is 1,000 bytes. */
function size(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  const power = Math.max(0, Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1_000 ** power;
  return `${value.toLocaleString('en', { maximumSignificantDigits: 3 })} ${units[power]}`;
}
