/**
 * Sticky assignment: each member gets a fair share of the partitions, and keeps as many as its share allows.
 *
 * Pure and deterministic. Every partition is assigned once; shares differ by one at most; no other balanced assignment
 * moves fewer partitions.
 */

/** A member of a group when partitions are assigned. `held` are the partitions that it says it has. */
export interface Member {
  readonly id: string;
  readonly held: readonly number[];
  /** False for a member that may have been replaced. When two members hold a partition, the other one is believed. */
  readonly isSure: boolean;
}

/** Returns the partitions of each member by its id, in ascending order. There must be a member. */
export function assignSticky(partitions: readonly number[], members: readonly Member[]): Map<string, number[]> {
  const holders = holdersOf(partitions, members);
  const heldBy = new Map<string, number[]>(members.map(({ id }) => [id, []]));
  for (const [partition, id] of holders) heldBy.get(id)!.push(partition);
  // The larger shares go to the members that hold most.
  const ranked = [...heldBy].sort(([one, held], [other, others]) => others.length - held.length || compare(one, other));
  const share = Math.floor(partitions.length / members.length);
  const larger = partitions.length % members.length;
  const shares = ranked.map(([id, held], rank) => ({ id, held, size: rank < larger ? share + 1 : share }));

  const assigned = new Map(shares.map(({ id, held, size }) => [id, held.slice(0, size)]));
  const kept = new Set([...assigned.values()].flat());
  const free = partitions.filter((partition) => !kept.has(partition));
  for (const { id, size } of shares) {
    const mine = assigned.get(id)!;
    mine.push(...free.splice(0, size - mine.length));
    mine.sort((a, b) => a - b);
  }
  return assigned;
}

/** Returns the member that holds each partition, in the order of the partitions. Omits partitions without a holder. */
function holdersOf(partitions: readonly number[], members: readonly Member[]): Map<number, string> {
  const credible = [...members].sort(
    (one, other) => Number(other.isSure) - Number(one.isSure) || compare(one.id, other.id),
  );
  const holders = new Map<number, string>();
  for (const partition of partitions) {
    const holder = credible.find(({ held }) => held.includes(partition));
    if (holder) holders.set(partition, holder.id);
  }
  return holders;
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
