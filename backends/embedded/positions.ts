/**
 * Positions of consumer groups without states. They are in the environment of the topics, so that a power cut undoes
 * both to the same point. `[offset f64]`, then the mark in UTF-8.
 */
import type { Positions, Topic } from '../../pipeline/ports.js';
import { markAfter, numberOf, numberValue } from './keys.js';
import type { Storage } from './storage.js';

/** Creates the positions in a storage that the caller opens and closes. */
export function createPositions({ stateEnvironment }: Storage): Positions {
  const table = stateEnvironment.table('positions');
  const keyOf = (group: string, topic: Topic, partition: number): Buffer =>
    Buffer.from(`${group}|${topic}|${partition}`);
  return {
    async get(group, topic, partition) {
      stateEnvironment.refresh();
      const value = table.getBinary(keyOf(group, topic, partition));
      return { offset: numberOf(value) ?? 0, mark: markAfter(value, 8) };
    },
    async set(group, topic, partition, { offset, mark }) {
      const value = Buffer.concat([numberValue(offset), Buffer.from(mark ?? '')]);
      await stateEnvironment.transaction(() => table.putSync(keyOf(group, topic, partition), value));
    },
  };
}
