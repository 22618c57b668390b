/**
 * Recorded locations once more through a set of geofences, and what that makes, beside what is on record.
 *
 * Flows in: a log to read, a catalog, a project and environment, and a range of time. Flows out: the events that would
 * have been and those that were, each told apart, partition after partition: devices and their events are of one
 * partition. Writes nothing.
 */
import type { ReadableLog } from '../backends/embedded/reader.js';
import type { Catalog, Scope } from '../pipeline/catalog/types.js';
import { topics } from '../pipeline/ports.js';
import type { Event } from '../schemas/records.js';
import { offsetAt } from './pages.js';
import { type ReplayedEvent, replayPartition, type TimeRange } from './partition.js';
import { recordedEvents } from './record.js';
import { noTotals, type Totals } from './totals.js';

export interface ReplayParts {
  readonly log: ReadableLog;
  readonly catalog: Catalog;
  readonly scope: Scope;
  readonly range: TimeRange;
  /** How long before the range devices are followed. Default: as far back as locations are held. */
  readonly warmUpMs?: number;
}

/** An event of the replay, of the record, or of both, where it goes by the same id. */
export interface ComparedEvent {
  readonly event: Event;
  readonly foundIn: 'both' | 'replay' | 'record';
  /** See {@link ReplayedEvent}; false for what only the record has. */
  readonly isFirst: boolean;
}

export interface Step {
  readonly totals: Totals;
  readonly events: readonly ComparedEvent[];
}

export interface Replay {
  /** Records to read at most, for showing progress. */
  readonly records: number;
  /** Of each partition the events of the replay by offset of their location, then those that only the record has. */
  steps(): AsyncGenerator<Step>;
}

/** Whoever reads the steps gets a turn. */
const emptyStep: Step = { totals: noTotals, events: [] };

/** What a partition holds at the start; what comes later is not looked at. */
interface PartitionPlan {
  readonly span: { readonly partition: number; readonly from: number; readonly end: number };
  readonly range: TimeRange;
}

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
 * Where locations are gone already, the range begins after the append of the oldest one held: those that are gone,
 * whose events may be on record still, were received before.
 */
async function planPartition({ log, range, warmUpMs }: ReplayParts, partition: number): Promise<PartitionPlan> {
  const { first, end } = await log.bounds(topics.locations, partition);
  const [oldest] = first > 0 ? await log.read(topics.locations, partition, first, 1) : [];
  const oldestMs = oldest?.timestamp ?? Number.POSITIVE_INFINITY;
  const fromMs = first === 0 ? range.fromMs : Math.max(range.fromMs, oldestMs + 1);
  const held = { topic: topics.locations, partition, from: first, end };
  const from = warmUpMs === undefined ? first : await offsetAt(log, held, fromMs - warmUpMs);
  return { span: { partition, from, end }, range: { ...range, fromMs } };
}

async function* comparePartition(
  { log, catalog, scope }: ReplayParts,
  { span, range }: PartitionPlan,
): AsyncGenerator<Step> {
  const recorded = () => recordedEvents(log, scope, span.partition, range);
  const onlyRecorded = new Set<string>();
  for await (const events of recorded()) {
    for (const { id } of events) onlyRecorded.add(id);
    yield emptyStep;
  }

  for await (const page of replayPartition({ log, catalog, scope, range, span })) {
    const events = page.events.map(({ event, isFirst }): ComparedEvent => {
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
