/** Waits until the stages have passed the ends that their topics have now. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type DeliveryQueue,
  deliveryTopics,
  type Log,
  type Positions,
  type StateStore,
  type Topic,
  topics,
} from '../../ports.js';
import { analyticsSinkGroup } from '../analytics/sink.js';

const pollMs = 100;

/** The offset after the last record of each partition. */
type Ends = ReadonlyMap<number, number>;

/** The positions of all stages, and the ends of their topics. */
export interface ProgressParts {
  readonly log: Pick<Log, 'partitions' | 'end'>;
  readonly states: Pick<StateStore, 'position'>;
  readonly positions: Pick<Positions, 'get'>;
  readonly deliveries: Pick<DeliveryQueue, 'position'>;
  /** How long each wait takes at most. */
  readonly patienceMs: number;
  /** Ends all waits. */
  readonly ending: AbortSignal;
}

/** Each method returns false if that does not happen in time. */
export interface Progress {
  /** Waits until the locations before these ends are evaluated. */
  areEvaluated(ends: Ends): Promise<boolean>;
  /** Waits until every location so far is evaluated, and its rows are stored. */
  isEverythingStored(): Promise<boolean>;
  /** Waits until every row of the topics so far is stored. */
  isSinkAtEnd(): Promise<boolean>;
  /** Waits until deliveries are made of every event so far. */
  areEventsQueued(): Promise<boolean>;
}

type OffsetOf = (partition: number) => Promise<number>;

/** Creates the waits of erasures. A wait that takes too long gives up, and its pass is repeated later. */
export function createProgress({ log, states, positions, deliveries, patienceMs, ending }: ProgressParts): Progress {
  const areEvaluated = (ends: Ends) => reached(ends, async (partition) => (await states.position(partition)).offset);

  async function isEverythingStored(): Promise<boolean> {
    return (await areEvaluated(await endsOf(topics.locations))) && (await isSinkAtEnd());
  }

  async function isSinkAtEnd(): Promise<boolean> {
    for (const topic of [topics.outcomes, topics.events, topics.attempts]) {
      const offsetOf: OffsetOf = async (partition) =>
        (await positions.get(analyticsSinkGroup, topic, partition)).offset;
      if (!(await reached(await endsOf(topic), offsetOf))) return false;
    }
    return true;
  }

  async function areEventsQueued(): Promise<boolean> {
    for (const topic of deliveryTopics) {
      const offsetOf: OffsetOf = async (partition) => (await deliveries.position({ topic, partition })).offset;
      if (!(await reached(await endsOf(topic), offsetOf))) return false;
    }
    return true;
  }

  async function endsOf(topic: Topic): Promise<Ends> {
    const ends = new Map<number, number>();
    for (let partition = 0; partition < log.partitions(topic); partition++)
      ends.set(partition, await log.end(topic, partition));
    return ends;
  }

  async function reached(ends: Ends, offsetOf: OffsetOf): Promise<boolean> {
    const deadlineMs = performance.now() + patienceMs;
    while (!(await hasPassed(ends, offsetOf))) {
      if (ending.aborted || performance.now() > deadlineMs) return false;
      await delay(pollMs);
    }
    return true;
  }

  async function hasPassed(ends: Ends, offsetOf: OffsetOf): Promise<boolean> {
    for (const [partition, end] of ends) if ((await offsetOf(partition)) < end) return false;
    return true;
  }

  return { areEvaluated, isEverythingStored, isSinkAtEnd, areEventsQueued };
}
