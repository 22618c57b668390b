import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openEmbedded } from '../../../backends/embedded/embedded.js';
import { scope, temporaryFolder } from '../../catalog/testing/fixtures.js';
import { type StateStore, topics } from '../../ports.js';
import { commandOf, createCommander } from './commands.js';

// The deletion of a project read the states of 5,000 devices in one turn of the main thread.
test('states of few devices are read in a turn', async () => {
  const { log, stateStore, close } = openEmbedded({ path: temporaryFolder(), partitions: 1 });
  onTestFinished(close);
  let turn = 0;
  const keysOfTurns = new Map<number, number>();
  const states: Pick<StateStore, 'load'> = {
    async load(partition, keys) {
      keysOfTurns.set(turn, (keysOfTurns.get(turn) ?? 0) + keys.length);
      return stateStore.load(partition, keys);
    },
  };
  const commands = Array.from({ length: 450 }, (_, number) => {
    const target = { _id: 'e'.repeat(24), name: `device${number}`, receivedBy: 1_000, receivedBeyond: 2_000 };
    return commandOf(scope, target, `device${number}`);
  });
  const commander = createCommander({ log, states }, () => false);
  let isDone = false;
  const appending = commander.append(commands).finally(() => {
    isDone = true;
  });
  for (; !isDone; turn++) await setImmediate();
  expect(await appending).toEqual([]);
  expect(Math.max(...keysOfTurns.values())).toBeLessThanOrEqual(100);
  expect(await log.end(topics.locations, 0)).toBe(450);
  expect(await commander.ends()).toEqual(new Map([[0, 450]]));
});
