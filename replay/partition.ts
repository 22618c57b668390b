/**
 * Evaluates the locations of one partition again, in order, with the steps of the location stage. Writes nothing.
 *
 * Devices have no state at first. Their states stay in memory, about 1 kB each, until the end of the partition.
 */
import type { ReadableLog } from '../backends/embedded/reader.js';
import type { Catalog, Scope } from '../pipeline/catalog/types.js';
import type { Evaluation } from '../pipeline/evaluation/types.js';
import { type LogRecord, topics } from '../pipeline/ports.js';
import type { BadRecord } from '../pipeline/records/decode.js';
import { scopeName } from '../pipeline/records/device-key.js';
import {
  type Collector,
  createDefinitions,
  type DecodedBatch,
  type Definitions,
  type Device,
  decodeBatch,
  evaluateRecords,
  eventsOf,
} from '../pipeline/stages/locations/steps.js';
import { codecs } from '../schemas/codecs.js';
import { hourMs } from '../schemas/durations.js';
import type { Event, Location } from '../schemas/records.js';
import { recordPages, type Span } from './pages.js';
import { newTotals, type Totals } from './totals.js';

/** Locations received at `fromMs` or later and before `toMs`. Epoch ms. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

interface PartitionReplay {
  readonly log: ReadableLog;
  readonly catalog: Catalog;
  readonly scope: Scope;
  readonly range: TimeRange;
  /** The evaluated records. Those before the range establish the state of each device. */
  readonly span: Omit<Span, 'topic'>;
}

/** An event that a location of the range would have caused. */
export interface ReplayedEvent {
  readonly event: Event;
  /**
   * The first evaluated location of the device caused the event, and older ones may have been deleted. The device may
   * have been inside before.
   */
  readonly isFirst: boolean;
}

/** The results of one page of records, or of a part of it that has many events. */
interface ReplayedPage {
  readonly totals: Totals;
  /** Events of the range, by offset of the location, then in order of occurrence. */
  readonly events: readonly ReplayedEvent[];
}

/**
 * Time to continue reading after the range. A record is usually appended soon after its location was received, but
 * appends may be delayed and clocks may differ.
 */
export const maxAppendDelayMs = hourMs;

/**
 * Yields what each page of the partition would cause today. `span` is a range of offsets; from 0 on, devices start
 * without a state as they did in fact.
 */
export async function* replayPartition({
  log,
  catalog,
  scope,
  range,
  span,
}: PartitionReplay): AsyncGenerator<ReplayedPage> {
  const definitions = createDefinitions(catalog.configuration);
  const devices = new Map<string, Device>();
  const keyPrefix = `${scopeName(scope)}/`;
  const isWholeHistory = span.from === 0;

  for await (const records of recordPages(log, { topic: topics.locations, ...span })) {
    const ofScope = records.filter(({ key }) => key.startsWith(keyPrefix));
    const batch = decodeBatch(codecs.location, ofScope);
    const newKeys = addNew(devices, batch.deviceKeys);
    const unknownKeys: Set<string> = isWholeHistory ? new Set() : newKeys;
    let rest = batch;
    do {
      const collector = new PageCollector(range, definitions, unknownKeys);
      collector.totals.records = rest === batch ? records.length : 0;
      rest = withoutFirst(rest, evaluateRecords(rest, devices, catalog, collector));
      yield collector;
    } while (rest.items.length > 0);
  }
}

const withoutFirst = ({ records, items, deviceKeys }: DecodedBatch, count: number): DecodedBatch => ({
  records: records.slice(count),
  items: items.slice(count),
  deviceKeys,
});

/** Adds unknown devices and returns their keys. */
function addNew(devices: Map<string, Device>, keys: ReadonlySet<string>): Set<string> {
  const added = new Set<string>();
  for (const key of keys) {
    if (devices.has(key)) continue;
    devices.set(key, { key, state: undefined, changed: false });
    added.add(key);
  }
  return added;
}

/** Events of one result. A location has up to 2,000, and a page of records 5,000 locations. */
const maxEvents = 20_000;

class PageCollector implements Collector, ReplayedPage {
  readonly totals = newTotals();
  readonly events: ReplayedEvent[] = [];
  readonly #range: TimeRange;
  readonly #definitions: Definitions;
  /** Devices without a state whose earlier locations may have been deleted. */
  readonly #unknownKeys: Set<string>;

  constructor(range: TimeRange, definitions: Definitions, unknownKeys: Set<string>) {
    this.#range = range;
    this.#definitions = definitions;
    this.#unknownKeys = unknownKeys;
  }

  get isFull(): boolean {
    return this.events.length >= maxEvents;
  }

  collect({ key }: LogRecord, location: Location, { result, user, transitions }: Evaluation): void {
    const { totals } = this;
    const { receivedAt } = location;
    const isFirst = this.#unknownKeys.delete(key);
    if (receivedAt < this.#range.fromMs) totals.warmUpLocations += 1;
    if (!this.#isWithin(receivedAt)) return;
    totals.results[result] += 1;
    totals.firstReceivedAt = Math.min(totals.firstReceivedAt, receivedAt);
    totals.lastReceivedAt = Math.max(totals.lastReceivedAt, receivedAt);
    for (const event of eventsOf(location, user, transitions, this.#definitions)) this.events.push({ event, isFirst });
  }

  /** Counts a bad record by its time of append, because its time of receipt is unknown. */
  deadLetter({ record }: BadRecord): void {
    if (this.#isWithin(record.timestamp)) this.totals.deadLetters += 1;
  }

  #isWithin(timeMs: number): boolean {
    return timeMs >= this.#range.fromMs && timeMs < this.#range.toMs;
  }
}
