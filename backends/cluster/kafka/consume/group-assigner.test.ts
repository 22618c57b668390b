import { AssignerProtocol, type Cluster, type Logger } from 'kafkajs';
import { describe, expect, test } from 'vitest';
import { type MemberState, memberStateOf, stickyAssigner } from './group-assigner.js';
import type { AssignmentState } from './partition-assignment.js';

const topic = 'test.locations';
const cluster = {
  findTopicPartitionMetadata: () => [3, 1, 0, 2].map((partitionId) => ({ partitionId })),
} as unknown as Cluster;
const assignerOf = (state: MemberState) => stickyAssigner(() => state)({ cluster, groupId: 'g', logger: {} as Logger });

const holding = (partitions: readonly number[], state: AssignmentState = 'held', isSure = true): MemberState => ({
  isSure,
  assignments: partitions.map((partition) => ({ partition, id: `id-${partition}`, state })),
});
const member = (memberId: string, state: MemberState) => ({
  memberId,
  memberMetadata: assignerOf(state).protocol({ topics: [topic] }).metadata,
});

async function assignmentOf(members: readonly ReturnType<typeof member>[]): Promise<Record<string, number[]>> {
  const assigned = await assignerOf(holding([])).assign({ members: [...members], topics: [topic] });
  return Object.fromEntries(
    assigned.map(({ memberId, memberAssignment }) => [
      memberId,
      AssignerProtocol.MemberAssignment.decode(memberAssignment)!.assignment[topic]!,
    ]),
  );
}

describe('a member', () => {
  test('sends its assignments to the others', () => {
    const state = holding([2, 0], 'draining');
    expect(memberStateOf(member('a', state).memberMetadata)).toEqual(state);
  });

  test('with metadata of another format holds nothing', () => {
    const { MemberMetadata } = AssignerProtocol;
    for (const userData of ['', 'null', '{}', '[]', '{"leases":3}', '{"isSure":1,"leases":[]}', 'x']) {
      const metadata = MemberMetadata.encode({ version: 0, topics: [topic], userData: Buffer.from(userData) });
      expect(memberStateOf(metadata), userData).toEqual(holding([], 'held', false));
    }
    expect(memberStateOf(Buffer.alloc(1))).toEqual(holding([], 'held', false));
  });
});

describe('the leader', () => {
  test('lets members keep their partitions, and assigns the rest to a new member', async () => {
    expect(
      await assignmentOf([member('a', holding([])), member('b', holding([0, 3])), member('c', holding([1, 2]))]),
    ).toEqual({
      a: [2],
      b: [0, 3],
      c: [1],
    });
  });

  test('ignores draining assignments', async () => {
    const assignments = [...holding([0], 'draining').assignments, ...holding([1, 2]).assignments];
    const draining = { isSure: true, assignments };
    expect(await assignmentOf([member('a', draining), member('b', holding([0, 3]))])).toEqual({ a: [1, 2], b: [0, 3] });
  });

  test('assigns nothing to some members when there are more members than partitions', async () => {
    const assignment = await assignmentOf(
      ['a', 'b', 'c', 'd', 'e'].map((id) => member(id, holding(id === 'e' ? [3] : []))),
    );
    expect(assignment.e).toEqual([3]);
    expect(
      Object.values(assignment)
        .map((list) => list.length)
        .sort(),
    ).toEqual([0, 1, 1, 1, 1]);
  });
});
