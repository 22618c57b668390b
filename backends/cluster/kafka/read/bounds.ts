/**
 * Where partitions begin and end. Questions of one turn about one topic are asked together: some ask about every
 * partition, many times a second.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log, Topic } from '../../../../pipeline/ports.js';
import { retried } from '../../retrying.js';
import { type Brokers, ConnectionClosed } from '../connection/brokers.js';

interface Bounds {
  readonly first: number;
  readonly end: number;
}

interface Question {
  readonly partitions: Set<number>;
  readonly answer: Promise<ReadonlyMap<number, Bounds>>;
}

/** An append that was durable before the question is within the bounds. */
export function createBounds(
  brokers: Brokers,
  topicName: (topic: Topic) => string,
  outageLimitMs: number,
): Log['bounds'] {
  const open = new Map<Topic, Question>();

  async function offsets(
    topic: Topic,
    partitions: ReadonlySet<number>,
    fromBeginning: boolean,
  ): Promise<Map<number, number>> {
    const asked = {
      topic: topicName(topic),
      partitions: [...partitions].map((partition) => ({ partition })),
      fromBeginning,
    };
    const [answer] = await brokers.on((cluster) => cluster.fetchTopicsOffset([asked]));
    return new Map(answer!.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
  }

  async function ask(topic: Topic, partitions: ReadonlySet<number>): Promise<ReadonlyMap<number, Bounds>> {
    const [first, end] = await Promise.all([offsets(topic, partitions, true), offsets(topic, partitions, false)]);
    return new Map(
      [...partitions].map((partition) => [partition, { first: first.get(partition)!, end: end.get(partition)! }]),
    );
  }

  function newQuestion(topic: Topic): Question {
    const partitions = new Set<number>();
    const answer = nextTurn().then(() => {
      open.delete(topic);
      return retried(() => ask(topic, partitions), {
        limitMs: outageLimitMs,
        isFinal: (error) => error instanceof ConnectionClosed,
      });
    });
    return { partitions, answer };
  }

  return async (topic, partition) => {
    const question = open.get(topic) ?? newQuestion(topic);
    open.set(topic, question);
    question.partitions.add(partition);
    return (await question.answer).get(partition)!;
  };
}
