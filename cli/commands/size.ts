/** `fenceline size`: estimates processes, partitions, memory and disks for a workload. */
import { type Run, UsageError, type Values } from '../command.js';
import type { OptionsOf } from '../descriptions.js';
import { type Estimate, estimate, type Workload } from '../size/estimate.js';

type SizeValues = Values<OptionsOf<'size'>>;

export const run: Run<OptionsOf<'size'>> = async (values) => {
  const result = estimate(workloadOf(values));
  if (values.json === true) console.log(JSON.stringify(result));
  else for (const [what, need] of linesOf(result)) console.log(`${what.padEnd(38)} ${need}`);
};

function workloadOf(values: SizeValues): Workload {
  const number = (option: keyof SizeValues, fallback: number, least: number): number => {
    const given = values[option] as string | undefined;
    const value = given === undefined ? fallback : Number(given);
    if (!Number.isFinite(value) || value < least) throw new UsageError(`--${option} must be a number from ${least}`);
    return value;
  };
  if (values.devices === undefined) throw new UsageError('size requires --devices, the number of devices');
  return {
    devices: number('devices', 0, 1),
    everySeconds: number('every', 60, 0.001),
    fences: number('fences', 100_000, 0),
    eventsPerLocation: number('events', 0.05, 0),
    deliveriesPerEvent: number('deliveries', 1, 0),
    records: values.sdk === true ? 'sdk' : 'plain',
    replicas: number('replicas', 3, 1),
    locationDays: number('location-days', 7, 0),
    eventDays: number('event-days', 30, 0),
    apiNodes: number('api-nodes', 2, 1),
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

const count = (value: number): string => Math.round(value).toLocaleString('en');

/** One kB is 1,000 bytes. */
function size(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  const power = Math.max(0, Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1_000 ** power;
  return `${value.toLocaleString('en', { maximumSignificantDigits: 3 })} ${units[power]}`;
}
