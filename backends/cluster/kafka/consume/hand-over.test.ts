import { describe, expect, test } from 'vitest';
import type { MemberState } from './group-assigner.js';
import { HandOver, type HandOverParts } from './hand-over.js';
import { Lease, type LeaseState } from './lease.js';

type Group = HandOverParts['group'];

const partition = 3;
const timeoutMs = 60_000;

const other = (id: string, state: LeaseState = 'held', of = partition): MemberState => ({
  isSure: true,
  leases: [{ partition: of, id, state }],
});

/** A group as another member sees it, that tests change. */
class FakeGroup implements Group {
  readonly notesOf = new Map<number, string | null>();
  questions = 0;
  isDividing = false;
  constructor(public members: MemberState[] | undefined) {}
  get isSettled() {
    this.questions += 1;
    return !this.isDividing;
  }
  async others() {
    this.questions += 1;
    return this.members;
  }
  async notes() {
    this.questions += 1;
    return this.notesOf;
  }
  async asked(more = 4): Promise<void> {
    for (const enough = this.questions + more; this.questions < enough; ) await new Promise(setImmediate);
  }
}

function waiting(group: Group, limitMs = timeoutMs) {
  const problems: string[] = [];
  const lease = new Lease(partition, 'mine');
  const handOver = new HandOver({
    group,
    isOwn: (id) => id === 'own',
    timeoutMs: limitMs,
    onProblem: (message) => problems.push(message),
  });
  let isReleased = false;
  const released = handOver.released(lease).then(() => {
    isReleased = true;
  });
  return { lease, problems, released, isReleased: () => isReleased };
}

describe('a partition is free', () => {
  test('when no other member has a lease on it that was claimed', async () => {
    for (const members of [
      [],
      [other('a', 'waiting')],
      [other('own', 'draining')],
      [other('a', 'held', 7), other('b', 'draining', 8)],
    ]) {
      await waiting(new FakeGroup(members)).released;
    }
  });

  test('when every other that had it has noted that it let go', async () => {
    const group = new FakeGroup([other('a', 'draining'), other('b'), other('c', 'claiming', 7)]);
    const { released, isReleased } = waiting(group);
    group.notesOf.set(7, 'a');
    group.notesOf.set(partition, 'of long ago');
    await group.asked();
    expect(isReleased()).toBe(false);
    group.notesOf.set(partition, 'a');
    await group.asked();
    expect(isReleased()).toBe(false);
    group.notesOf.set(partition, 'b');
    await released;
  });

  test('not before the group is settled enough to tell', async () => {
    const group = new FakeGroup(undefined);
    const { released, isReleased } = waiting(group);
    await group.asked();
    expect(isReleased()).toBe(false);
    group.members = [];
    await released;
  });
});

test('while the group divides anew nothing is claimed, however long it takes', async () => {
  const group = new FakeGroup([]);
  group.isDividing = true;
  const { problems, released, isReleased } = waiting(group, 1);
  await group.asked(5);
  expect(isReleased()).toBe(false);
  group.isDividing = false;
  await released;
  expect(problems).toEqual([]);
});

test('a lease that is lost waits no longer', async () => {
  const group = new FakeGroup([other('a')]);
  const { lease, problems, released } = waiting(group);
  await group.asked();
  lease.lose();
  await released;
  expect(problems).toEqual([]);
});

test('an owner that never lets go, or that cannot be asked for, is waited for no longer than the limit', async () => {
  const { problems, released } = waiting(new FakeGroup([other('a')]), 20);
  await released;
  expect(problems).toEqual(['partition 3 is claimed before its last owner let it go']);

  const mute = new FakeGroup([]);
  mute.others = () => Promise.reject(new Error('no coordinator'));
  const second = waiting(mute, 20);
  await second.released;
  expect(second.problems[0]).toContain('no coordinator');
  expect(second.problems.at(-1)).toContain('claimed before');
});
