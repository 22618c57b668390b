/** Positions of consumer groups without states, in the environment of what they consume, so that both fall back together. */
import type { Positions, Topic } from '../../pipeline/ports.js';
import { numberOf, numberValue } from './keys.js';
import type { Storage } from './storage.js';

export function createPositions({ stateEnvironment }: Storage): Positions {
  const table = stateEnvironment.table('positions');
  const keyOf = (group: string, topic: Topic, partition: number): Buffer => Buffer.from(`${group}|${topic}|${partition}`);
  return {
    async get(group, topic, partition) {
      stateEnvironment.refresh();
      return numberOf(table.getBinary(keyOf(group, topic, partition))) ?? 0;
    },
    async set(group, topic, partition, nextOffset) {
      await stateEnvironment.transaction(() => table.putSync(keyOf(group, topic, partition), numberValue(nextOffset)));
    },
  };
}
