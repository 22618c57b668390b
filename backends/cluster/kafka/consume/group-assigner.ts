/**
 * The partition assigner of a group: each member lists its assignments when it joins, and the leader assigns the
 * partitions.
 *
 * Every member can read these lists (`describeGroup`). That is how the next owner of a partition finds the member that
 * still holds it.
 */
import { AssignerProtocol, type PartitionAssigner } from 'kafkajs';
import type { PartitionAssignment } from './partition-assignment.js';
import { assignSticky } from './sticky-assignment.js';

/** The assignments of a member when it joined. */
export interface MemberState {
  /** Whether nobody else can have been assigned any of them in between. */
  readonly isSure: boolean;
  readonly assignments: readonly Pick<PartitionAssignment, 'partition' | 'id' | 'state'>[];
}

const { MemberMetadata, MemberAssignment } = AssignerProtocol;
const nothing: MemberState = { isSure: false, assignments: [] };
const version = 0;

/** `leases` is the name of earlier versions, whose members may be in the group. */
const encodeState = ({ isSure, assignments }: MemberState): Buffer =>
  Buffer.from(JSON.stringify({ isSure, leases: assignments }));

/** Makes an assigner that calls `state` at every attempt to join. */
export function stickyAssigner(state: () => MemberState): PartitionAssigner {
  return ({ cluster }) => ({
    name: 'fenceline-sticky',
    version,
    protocol: ({ topics }) => ({
      name: 'fenceline-sticky',
      metadata: MemberMetadata.encode({ version, topics, userData: encodeState(state()) }),
    }),
    async assign({ members, topics }) {
      const topic = topics[0]!;
      const partitions = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
      const assigned = assignSticky(
        partitions.sort((a, b) => a - b),
        members.map(({ memberId, memberMetadata }) => ({ id: memberId, ...heldBy(memberStateOf(memberMetadata)) })),
      );
      return [...assigned].map(([memberId, mine]) => ({
        memberId,
        memberAssignment: MemberAssignment.encode({
          version,
          assignment: { [topic]: mine },
          userData: Buffer.alloc(0),
        }),
      }));
    },
  });
}

/** Returns the state that a member sent when it joined; no assignments if it can't be decoded. */
export function memberStateOf(metadata: Buffer): MemberState {
  try {
    const { userData } = MemberMetadata.decode(metadata)!;
    const { isSure, leases } = JSON.parse(userData.toString());
    return Array.isArray(leases) ? { isSure: isSure === true, assignments: leases } : nothing;
  } catch {
    return nothing;
  }
}

const heldBy = ({ isSure, assignments }: MemberState) => ({
  isSure,
  held: assignments.filter(({ state }) => state !== 'draining').map(({ partition }) => partition),
});
