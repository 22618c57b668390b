/**
 * Finds and moves stored positions that do not match the log.
 *
 * In: an open backend, of this process or of the node that uses the folder. Out: the stored position and the offsets of
 * the log, for each partition. Each move claims the partition, so a running owner is fenced off instead of overwriting
 * the position. The owner notices within a second and continues from the new position.
 */
import { callHolder } from '../backends/embedded/folder-lock.js';
import type { DeliveryQueue, Divergence, Log, Position, Positions, StateStore, Topic } from '../pipeline/ports.js';
import { topics } from '../pipeline/ports.js';
import { findDivergence, markOf, readOne } from '../pipeline/positions.js';
import { analyticsSinkGroup } from '../pipeline/stages/analytics/sink.js';
import { locationStageGroup } from '../pipeline/stages/locations/stage.js';
import { webhookStageGroup } from '../pipeline/stages/webhooks/stage.js';

/** The parts of a backend whose positions are compared with the log. */
export interface RepairableBackend {
  readonly log: Pick<Log, 'partitions' | 'read' | 'bounds'>;
  readonly stateStore: Pick<StateStore, 'position' | 'claim' | 'commit'>;
  readonly deliveryQueue: Pick<DeliveryQueue, 'position' | 'claim' | 'add'>;
  readonly positions: Positions;
}

/** A partition of a topic, read by a group. */
interface ReadPartition {
  readonly group: string;
  readonly topic: Topic;
  readonly partition: number;
}

/** The stored position and the offsets of the log. `divergence` is undefined if the two match. */
export interface Finding extends ReadPartition {
  readonly position: Position;
  readonly first: number;
  readonly end: number;
  readonly divergence: Divergence | undefined;
}

/** `contested`: another process claimed the partition before every write. */
type RepairResult = 'moved' | 'contested';

const stored = [topics.outcomes, topics.events, topics.attempts, topics.rejections, topics.deadLetters] as const;
const maxAttempts = 20;

/** How the position of a group is read and moved. */
interface Reader {
  readonly group: string;
  readonly topic: Topic;
  position(backend: RepairableBackend, partition: number): Promise<Position>;
  /** Resolves to false when another process claimed the partition before the write. */
  move(backend: RepairableBackend, partition: number, to: Position): Promise<boolean>;
}

const deliveriesOf = (topic: 'events' | 'deliveries'): Reader => ({
  group: webhookStageGroup,
  topic,
  position: ({ deliveryQueue }, partition) => deliveryQueue.position({ topic, partition }),
  async move({ deliveryQueue }, partition, { offset, mark }) {
    const claim = await deliveryQueue.claim({ topic, partition });
    const change = { expectedOffset: claim.nextOffset, nextOffset: offset, mark, deliveries: [] };
    return (await deliveryQueue.add(claim, change)) === 'committed';
  },
});

const readers: readonly Reader[] = [
  {
    group: locationStageGroup,
    topic: topics.locations,
    position: ({ stateStore }, partition) => stateStore.position(partition),
    async move({ stateStore }, partition, { offset, mark }) {
      const claim = await stateStore.claim(partition);
      const change = { expectedOffset: claim.nextOffset, nextOffset: offset, mark, states: new Map(), publish: [] };
      return (await stateStore.commit(claim, change)) === 'committed';
    },
  },
  deliveriesOf(topics.events),
  deliveriesOf(topics.deliveries),
  ...stored.map(
    (topic): Reader => ({
      group: analyticsSinkGroup,
      topic,
      position: ({ positions }, partition) => positions.get(analyticsSinkGroup, topic, partition),
      async move({ positions }, partition, to) {
        await positions.set(analyticsSinkGroup, topic, partition, to);
        return true;
      },
    }),
  ),
];

/** The new offset of a position. */
interface Move extends ReadPartition {
  readonly offset: number;
}

/** Finds and moves positions. A type and not an interface: a node serves it as calls by name. */
export type Repair = {
  /** Compares every stored position with the log. */
  readonly findings: () => Promise<readonly Finding[]>;
  readonly move: (move: Move) => Promise<RepairResult>;
};

/** Creates the repair of a backend that this process has open. */
export const repairOf = (backend: RepairableBackend): Repair => ({
  findings: () => findings(backend),
  move: (move) => moveTo(backend, move),
});

/** Creates the repair that the node on the folder serves. Rejects as {@link callHolder} does. */
export const repairByNode = (folder: string): Repair => ({
  findings: async () => (await callHolder(folder, 'findings', {})) as readonly Finding[],
  move: async (move) => (await callHolder(folder, 'move', move)) as RepairResult,
});

/** Compares every stored position with the log. */
async function findings(backend: RepairableBackend): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const reader of readers) {
    const partitions = Array.from({ length: backend.log.partitions(reader.topic) }, (_, partition) => partition);
    found.push(...(await Promise.all(partitions.map((partition) => compare(backend, reader, partition)))));
  }
  return found;
}

/** Returns whether no position is stored although the log has records: the store is empty. */
export const lacksPositions = (found: readonly Finding[]): boolean =>
  found.every(({ position }) => position.offset === 0) && found.some(({ first, end }) => end > first);

async function compare(backend: RepairableBackend, reader: Reader, partition: number): Promise<Finding> {
  const { group, topic } = reader;
  const position = await reader.position(backend, partition);
  const divergence = await findDivergence(backend.log, topic, partition, position);
  return { group, topic, partition, position, ...(await backend.log.bounds(topic, partition)), divergence };
}

/** Moves a position to the offset. Retries when another process claims the partition before the write. */
async function moveTo(backend: RepairableBackend, { group, topic, partition, offset }: Move): Promise<RepairResult> {
  const reader = readers.find((each) => each.group === group && each.topic === topic)!;
  const before = offset > 0 ? await readOne(backend.log, topic, partition, offset - 1) : undefined;
  const mark = before?.offset === offset - 1 ? markOf(before) : null;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    if (await reader.move(backend, partition, { offset, mark })) return 'moved';
  }
  return 'contested';
}
