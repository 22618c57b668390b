import { expect, test } from 'vitest';
import { Lease } from './consume/lease.js';
import type { Progress } from './consume/membership.js';
import { Reports } from './consume/reports.js';

function held(partition: number, offset: number): Lease {
  const lease = new Lease(partition, `id-${partition}`);
  lease.claim();
  lease.hold({ offset: offset, mark: null });
  return lease;
}

const move = (lease: Lease): void => {
  lease.align(0);
  lease.passOver(lease.fetchOffset, lease.fetchOffset);
};

/** Sends one report when told to; what it was to send is in `sent`. */
function slowGroup() {
  const sent: (readonly Progress[])[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const send = (progress: readonly Progress[]) =>
    new Promise<void>((resolve, reject) => {
      sent.push(progress);
      ends.push((error) => (error ? reject(error) : resolve()));
    });
  return { sent, send, end: (error?: Error) => ends.shift()!(error) };
}

test('what has moved is reported, and what the group did not take is reported again', async () => {
  const { sent, send, end } = slowGroup();
  const reports = new Reports(send);
  const [one, two] = [held(1, 10), held(2, 20)];
  const leases = new Set([one, two, new Lease(3, 'waits')]);
  const report = async (error?: Error) => {
    const reported = reports.progressOf(leases);
    await new Promise(setImmediate);
    if (sent.length > 0) end(error);
    await reported;
    return sent.splice(0).flat();
  };
  const all = [
    { partition: 1, nextOffset: 10 },
    { partition: 2, nextOffset: 20 },
  ];
  expect(await report(new Error('rebalancing'))).toEqual(all);
  expect(await report()).toEqual(all);
  expect(await report()).toEqual([]);
  move(two);
  expect(await report()).toEqual([{ partition: 2, nextOffset: 21 }]);
});

test('the end of a lease is the last that is told of it', async () => {
  const { sent, send, end } = slowGroup();
  const reports = new Reports(send);
  const lease = held(1, 10);
  const leases = new Set([lease]);
  void reports.progressOf(leases);
  await new Promise(setImmediate);
  void reports.progressOf(leases);
  lease.lose();
  lease.end();
  const ended = reports.endOf(lease);
  end(new Error('no coordinator'));
  await new Promise(setImmediate);
  end();
  await ended;
  expect(sent.flat()).toEqual([
    { partition: 1, nextOffset: 10 },
    { partition: 1, nextOffset: 10, note: 'id-1' },
  ]);
});
