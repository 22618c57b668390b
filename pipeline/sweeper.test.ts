/** Sweepers of nodes that share a real store, in virtual time. */
import { expect, test } from 'vitest';
import { PortError } from './errors.js';
import { createHeldLeases } from './held-lease.js';
import { createSweeper, createSweeperLeases } from './sweeper.js';
import { useVirtualValues } from './testing/virtual-values.js';

const values = useVirtualValues();
const { answered, pass } = values;
const intervalMs = 1_000;
const minuteMs = 60_000;
const leaseKey = 'sweeper.work';

/** A node whose sweeps last until the test ends them, or their signal does. */
function node({ isUnfinished = () => false }: { isUnfinished?: () => boolean } = {}) {
  let isDue = true;
  let sweeps = 0;
  let settle: { end: () => void; fail: (error: Error) => void } | undefined;
  const sweeper = createSweeper({
    name: 'work',
    takeLease: createSweeperLeases(createHeldLeases(values)),
    intervalMs,
    isDue: () => isDue,
    isUnfinished,
    async sweep(ending) {
      sweeps += 1;
      await new Promise<void>((resolve, reject) => {
        settle = { end: resolve, fail: reject };
        ending.addEventListener('abort', () => resolve());
      });
      settle = undefined;
    },
  });
  sweeper.start();
  return {
    ...sweeper,
    sweeps: () => sweeps,
    isSweeping: () => settle !== undefined,
    async endSweep({ isDue: dueAfterwards = false, error }: { isDue?: boolean; error?: Error } = {}) {
      isDue = dueAfterwards;
      if (error) settle!.fail(error);
      else settle!.end();
      settle = undefined;
      await answered();
    },
  };
}

const stopAll = (nodes: readonly { stop(): Promise<void> }[]) => Promise.all(nodes.map((each) => each.stop()));

// The lease ended after an interval, and a sweep may take minutes: then two nodes ran every erasure.
test('regression: one node sweeps at a time, however long that takes', async () => {
  const nodes = [node(), node()];
  await answered();
  for (let minute = 0; minute < 5; minute++) {
    expect(nodes.filter((each) => each.isSweeping())).toHaveLength(1);
    await pass(minuteMs);
  }
  const [first, second] = nodes[0]!.isSweeping() ? nodes : [nodes[1]!, nodes[0]!];
  expect(second!.sweeps()).toBe(0);
  await first!.endSweep();
  await pass(intervalMs);
  expect([first!.sweeps(), second!.sweeps()]).toEqual([1, 1]);
  await stopAll(nodes);
  expect(await values.get(leaseKey)).toBeUndefined();
});

test('a node with unfinished work keeps the lease between its sweeps, and frees it when it stops', async () => {
  const first = node({ isUnfinished: () => true });
  await answered();
  const second = node();
  await first.endSweep();
  await pass(2 * minuteMs);
  expect([first.sweeps(), second.sweeps()]).toEqual([1, 0]);
  await first.stop();
  await pass(intervalMs);
  expect(second.isSweeping()).toBe(true);
  await second.stop();
});

test('a sweep ends when its lease is lost, and the node sweeps again when the lease is free', async () => {
  const swept = node({ isUnfinished: () => true });
  await answered();
  await values.delete(leaseKey);
  await values.put(leaseKey, 'another node', minuteMs);
  await pass(minuteMs / 2);
  expect([swept.isSweeping(), swept.sweeps()]).toEqual([false, 1]);
  expect(await values.get(leaseKey)).toBe('another node');
  await pass(minuteMs);
  expect([swept.isSweeping(), swept.sweeps()]).toEqual([true, 2]);
  await swept.stop();
});

test('a failure that may pass frees the lease for other nodes, and is no failure of the sweeper', async () => {
  const failing = node({ isUnfinished: () => true });
  await answered();
  await failing.endSweep({ isDue: true, error: new PortError('unavailable', 'out of reach') });
  expect(await values.get(leaseKey)).toBeUndefined();
  await pass(intervalMs);
  expect(failing.sweeps()).toBe(2);
  await failing.stop();
  await failing.done;
});

test('any other failure is reported', async () => {
  const failing = node();
  await answered();
  const outcome = expect(failing.done).rejects.toThrow('a bug');
  await failing.endSweep({ error: new Error('a bug') });
  await outcome;
  await failing.stop();
});

test('a node that stops while it takes the lease sweeps no more, and is no failure', async () => {
  const stopped = node();
  await stopped.stop();
  await stopped.done;
  expect(stopped.sweeps()).toBe(0);
  expect(await values.get(leaseKey)).toBeUndefined();
});
