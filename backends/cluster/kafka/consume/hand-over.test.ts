import { describe, expect, test } from 'vitest';
import type { MemberState } from './group-assigner.js';
import { HandOver, type HandOverParts } from './hand-over.js';
import { type AssignmentState, PartitionAssignment } from './partition-assignment.js';

type Group = HandOverParts['group'];

const partition = 3;
const timeoutMs = 60_000;

const other = (id: string, state: AssignmentState = 'held', of = partition): MemberState => ({
  isSure: true,
  assignments: [{ partition: of, id, state }],
});

/** A group that tests change. */
class FakeGroup implements Group {
  readonly metadataOf = new Map<number, string | null>();
  calls = 0;
  isRebalancing = false;
  constructor(public members: MemberState[] | undefined) {}
  get isSettled() {
    this.calls += 1;
    return !this.isRebalancing;
  }
  async otherMembers() {
    this.calls += 1;
    return this.members;
  }
  async committedMetadata() {
    this.calls += 1;
    return this.metadataOf;
  }
  async called(more = 4): Promise<void> {
    for (const enough = this.calls + more; this.calls < enough; ) await new Promise(setImmediate);
  }
}

function waiting(group: Group, limitMs = timeoutMs) {
  const problems: string[] = [];
  const assignment = new PartitionAssignment(partition, 'mine');
  const handOver = new HandOver({
    group,
    isOwn: (id) => id === 'own',
    timeoutMs: limitMs,
    onProblem: (message) => problems.push(message),
  });
  let isReleased = false;
  const released = handOver.released(assignment).then(() => {
    isReleased = true;
  });
  return { assignment, problems, released, isReleased: () => isReleased };
}

describe('a partition is released', () => {
  test('when no other member has an assignment on it that was claimed', async () => {
    for (const members of [
      [],
      [other('a', 'waiting')],
      [other('own', 'draining')],
      [other('a', 'held', 7), other('b', 'draining', 8)],
    ]) {
      const { problems, released } = waiting(new FakeGroup(members));
      await released;
      expect(problems).toEqual([]);
    }
  });

  test('when every previous owner has committed the release', async () => {
    const group = new FakeGroup([other('a', 'draining'), other('b'), other('c', 'starting', 7)]);
    const { problems, released, isReleased } = waiting(group);
    group.metadataOf.set(7, 'a');
    group.metadataOf.set(partition, 'of long ago');
    await group.called();
    expect(isReleased()).toBe(false);
    group.metadataOf.set(partition, 'a');
    await group.called();
    expect(isReleased()).toBe(false);
    group.metadataOf.set(partition, 'b');
    await released;
    expect(problems).toEqual([]);
  });

  test('not during a rebalance', async () => {
    const group = new FakeGroup(undefined);
    const { problems, released, isReleased } = waiting(group);
    await group.called();
    expect(isReleased()).toBe(false);
    group.members = [];
    await released;
    expect(problems).toEqual([]);
  });
});

test('a rebalance delays the claim without limit', async () => {
  const group = new FakeGroup([]);
  group.isRebalancing = true;
  const { problems, released, isReleased } = waiting(group, 1);
  await group.called(5);
  expect(isReleased()).toBe(false);
  group.isRebalancing = false;
  await released;
  expect(problems).toEqual([]);
});

test('a lost assignment stops waiting', async () => {
  const group = new FakeGroup([other('a')]);
  const { assignment, problems, released } = waiting(group);
  await group.called();
  assignment.lose();
  await released;
  expect(problems).toEqual([]);
});

test('after the limit the partition is claimed from an owner that does not release it or is unknown', async () => {
  const { problems, released } = waiting(new FakeGroup([other('a')]), 20);
  await released;
  expect(problems).toEqual(['partition 3 is claimed before its previous owner released it']);

  const mute = new FakeGroup([]);
  mute.otherMembers = () => Promise.reject(new Error('no coordinator'));
  const second = waiting(mute, 20);
  await second.released;
  expect(second.problems[0]).toContain('no coordinator');
  expect(second.problems.at(-1)).toContain('claimed before');
});
