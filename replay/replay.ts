/**
 * Evaluates recorded locations against a set of geofences, and compares the events with the recorded ones.
 *
 * Input: a log, a catalog, a project and environment, and a time range. Output: replayed and recorded events, marked by
 * where they were found. Partitions are replayed one after another, because a device and its events have one partition.
 * Writes nothing.
 */
import type { ReadableLog } from '../backends/embedded/reader.js';
import type { Catalog, Scope } from '../pipeline/catalog/types.js';
import { topics } from '../pipeline/ports.js';
import type { Event } from '../schemas/records.js';
import { createErasedTest, type Erased, nothingErased } from './erased.js';
import { partOf, readSamples, type Sample } from './pages.js';
import { maxAppendDelayMs, type ReplayedEvent, replayPartition, type TimeRange } from './partition.js';
import { recordedEvents } from './recorded-events.js';
import { noTotals, type Totals } from './totals.js';

interface ReplayParts {
  readonly log: ReadableLog;
  readonly catalog: Catalog;
  readonly scope: Scope;
  readonly range: TimeRange;
  /** Time before the range from which locations are evaluated. Default: all locations that the log holds. */
  readonly warmUpMs?: number;
  /** What is left out. Default: nothing. */
  readonly erased?: Erased;
}

/** An event of the replay, of the record, or of both if their ids are equal. */
export interface ComparedEvent {
  readonly event: Event;
  readonly foundIn: 'both' | 'replay' | 'record';
  /** See {@link ReplayedEvent}; false for events that are only on record. */
  readonly isFirst: boolean;
}

interface Step {
  readonly totals: Totals;
  readonly events: readonly ComparedEvent[];
}

interface Replay {
  /** Maximum number of records to read, for showing progress. */
  readonly records: number;
  /** Yields, for each partition, replayed events by offset of their location, then events that are only on record. */
  steps(): AsyncGenerator<Step>;
}

/** Lets the reader of the steps run. */
const emptyStep: Step = { totals: noTotals, events: [] };

/** The records of a partition at the start that are read. Later ones are ignored. */
interface PartitionPlan {
  readonly span: { readonly partition: number; readonly from: number; readonly end: number };
  readonly range: TimeRange;
}

/** Finds the records to read. Rejects when locations and events have different numbers of partitions. */
export async function prepareReplay(parts: ReplayParts): Promise<Replay> {
  const { log } = parts;
  const partitions = log.partitions(topics.locations);
  if (log.partitions(topics.events) !== partitions)
    throw new Error('locations and events have different numbers of partitions');
  const plans = await Promise.all(
    Array.from({ length: partitions }, (_, partition) => planPartition(parts, partition)),
  );
  return {
    records: plans.reduce((sum, { span }) => sum + span.end - span.from, 0),
    async *steps() {
      for (const plan of plans) yield* comparePartition(parts, plan);
    },
  };
}

/**
 * Plans the replay of a partition. If its oldest locations were deleted, the range begins after the append of the
 * oldest remaining one: events of deleted locations may still be on record, but their locations were received before.
 */
async function planPartition({ log, range, warmUpMs }: ReplayParts, partition: number): Promise<PartitionPlan> {
  const { first, end } = await log.bounds(topics.locations, partition);
  const held = { topic: topics.locations, partition, from: first, end };
  const samples = await readSamples(log, held, ({ timestamp }) => timestamp);
  const fromMs = first === 0 ? range.fromMs : beginOfWhole(samples, range.fromMs);
  const toMs = range.toMs + maxAppendDelayMs;
  const warmUpFromMs = warmUpMs === undefined ? Number.NEGATIVE_INFINITY : fromMs - warmUpMs;
  const part = partOf(held, samples, { fromMs: warmUpFromMs, toMs });
  return { span: { partition, ...part }, range: { ...range, fromMs } };
}

/** Returns `fromMs`, or when the oldest record from then on was appended if older ones were deleted. Epoch ms. */
function beginOfWhole(samples: readonly Sample[], fromMs: number): number {
  const oldest = samples[0];
  if (oldest !== undefined && oldest.timeMs < fromMs) return fromMs;
  return Math.min(...samples.filter(({ timeMs }) => timeMs >= fromMs).map(({ timeMs }) => timeMs)) + 1;
}

async function* comparePartition(
  { log, catalog, scope, erased = nothingErased }: ReplayParts,
  { span, range }: PartitionPlan,
): AsyncGenerator<Step> {
  const isErased = await createErasedTest(log, scope, span, erased);
  const recorded = () => recordedEvents(log, scope, span.partition, range);
  const onlyRecorded = new Set<string>();
  for await (const events of recorded()) {
    for (const event of events) if (!isErased(event)) onlyRecorded.add(event.id);
    yield emptyStep;
  }

  for await (const page of replayPartition({ log, catalog, scope, range, span })) {
    const kept = page.events.filter(({ event }) => !isErased(event));
    const events = kept.map(({ event, isFirst }): ComparedEvent => {
      return { event, isFirst, foundIn: onlyRecorded.delete(event.id) ? 'both' : 'replay' };
    });
    yield { totals: page.totals, events };
  }
  if (onlyRecorded.size === 0) return;
  for await (const page of recorded()) {
    const events = page.filter(({ id }) => onlyRecorded.delete(id));
    yield { totals: noTotals, events: events.map((event) => ({ event, isFirst: false, foundIn: 'record' })) };
  }
}
