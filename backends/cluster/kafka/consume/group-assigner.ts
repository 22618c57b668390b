/**
 * How the members of a group divide a topic among themselves: each tells at every join what it has, and the one that
 * Kafka made the leader divides.
 * What they tell can be read by every member (`describeGroup`), which is how a partition's next owner learns who has it
 * still.
 */
import { AssignerProtocol, type PartitionAssigner } from 'kafkajs';
import type { Lease } from './lease.js';
import { assignSticky } from './sticky.js';

/** What a member had in hand when it joined. */
export interface MemberState {
  /** Nobody else can have been given any of it since it was given to this member. */
  readonly isSure: boolean;
  readonly leases: readonly Pick<Lease, 'partition' | 'id' | 'state'>[];
}

const { MemberMetadata, MemberAssignment } = AssignerProtocol;
const nothing: MemberState = { isSure: false, leases: [] };
const version = 0;

/** `state` is asked at every try to join. */
export function stickyAssigner(state: () => MemberState): PartitionAssigner {
  return ({ cluster }) => ({
    name: 'fenceline-sticky',
    version,
    protocol: ({ topics }) => ({
      name: 'fenceline-sticky',
      metadata: MemberMetadata.encode({ version, topics, userData: Buffer.from(JSON.stringify(state())) }),
    }),
    async assign({ members, topics }) {
      const topic = topics[0]!;
      const partitions = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
      const given = assignSticky(
        partitions.sort((a, b) => a - b),
        members.map(({ memberId, memberMetadata }) => ({ id: memberId, ...heldBy(memberStateOf(memberMetadata)) })),
      );
      return [...given].map(([memberId, mine]) => ({
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

/** What a member told when it joined; nothing, when that can't be read. */
export function memberStateOf(metadata: Buffer): MemberState {
  try {
    const { userData } = MemberMetadata.decode(metadata)!;
    const { isSure, leases } = JSON.parse(userData.toString()) as MemberState;
    return Array.isArray(leases) ? { isSure, leases } : nothing;
  } catch {
    return nothing;
  }
}

const heldBy = ({ isSure, leases }: MemberState) => ({
  isSure,
  held: leases.filter(({ state }) => state !== 'draining').map(({ partition }) => partition),
});
