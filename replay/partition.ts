/**
 * One partition's locations, evaluated again in their order by the location stage's own code. Nothing is written
 * anywhere.
 *
 * The states of the partition's devices begin unknown and stay in memory, about 1 kB each, until the partition is
 * through.
 */
import type { ReadableLog } from '../backends/embedded/reader.js';
import type { Catalog, Scope } from '../pipeline/catalog/types.js';
import type { Evaluation } from '../pipeline/evaluation/types.js';
import { type LogRecord, topics } from '../pipeline/ports.js';
import type { BadRecord } from '../pipeline/records/decode.js';
import {
  type Collector,
  createDefinitions,
  type Definitions,
  type Device,
  decodeBatch,
  evaluateRecords,
  eventOf,
} from '../pipeline/stages/locations/steps.js';
import { codecs } from '../schemas/codecs.js';
import type { Event, Location } from '../schemas/records.js';
import { recordPages, type Span } from './pages.js';
import { newTotals, type Totals } from './totals.js';

/** Locations received at `fromMs` or later and before `toMs`. Epoch ms. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface PartitionReplay {
  readonly log: ReadableLog;
  readonly catalog: Catalog;
  readonly scope: Scope;
  readonly range: TimeRange;
  /** All that is evaluated: what comes before the range shows where each device was. */
  readonly span: Omit<Span, 'topic'>;
}

export interface ReplayedEvent {
  readonly event: Event;
  /**
   * Its cause is the first location of the device that was evaluated, and older ones may be gone: the device may have
   * been inside before.
   */
  readonly isFirst: boolean;
}

/** What became of one page of records. */
export interface ReplayedPage {
  readonly totals: Totals;
  /** Of the range, by offset of the location, then in the order they happened. */
  readonly events: readonly ReplayedEvent[];
}

/**
 * A record is appended soon after its location was received. Reading goes on for so long past the range, in case that
 * one was held up or that clocks differ.
 */
const maxAppendDelayMs = 60 * 60 * 1000;

export async function* replayPartition({
  log,
  catalog,
  scope,
  range,
  span,
}: PartitionReplay): AsyncGenerator<ReplayedPage> {
  const definitions = createDefinitions(catalog.configuration);
  const devices = new Map<string, Device>();
  const keyPrefix = `${scope.project}/${scope.environment}/`;
  const isWholeHistory = span.from === 0;

  for await (const records of recordPages(log, { topic: topics.locations, ...span })) {
    if (records[0]!.timestamp >= range.toMs + maxAppendDelayMs) return;
    const ofScope = records.filter(({ key }) => key.startsWith(keyPrefix));
    const batch = decodeBatch(codecs.location, ofScope);
    const newKeys = addNew(devices, batch.deviceKeys);
    const collector = new PageCollector(range, definitions, isWholeHistory ? new Set() : newKeys);
    collector.totals.records = records.length;
    evaluateRecords(batch, devices, catalog, collector);
    yield collector;
  }
}

/** Adds the devices that are not known yet and answers their keys. */
function addNew(devices: Map<string, Device>, keys: ReadonlySet<string>): Set<string> {
  const added = new Set<string>();
  for (const key of keys) {
    if (devices.has(key)) continue;
    devices.set(key, { key, state: undefined, changed: false });
    added.add(key);
  }
  return added;
}

class PageCollector implements Collector, ReplayedPage {
  readonly totals = newTotals();
  readonly events: ReplayedEvent[] = [];
  readonly #range: TimeRange;
  readonly #definitions: Definitions;
  /** Devices of which nothing is known, and of which something may be gone. */
  readonly #unknownKeys: Set<string>;

  constructor(range: TimeRange, definitions: Definitions, unknownKeys: Set<string>) {
    this.#range = range;
    this.#definitions = definitions;
    this.#unknownKeys = unknownKeys;
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
    for (const transition of transitions) {
      const event = eventOf(location, user, transition, this.#definitions);
      if (event !== undefined) this.events.push({ event, isFirst });
    }
  }

  /** What can't be decoded has no time of receipt but that of its append. */
  deadLetter({ record }: BadRecord): void {
    if (this.#isWithin(record.timestamp)) this.totals.deadLetters += 1;
  }

  #isWithin(timeMs: number): boolean {
    return timeMs >= this.#range.fromMs && timeMs < this.#range.toMs;
  }
}
