import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assignSticky, type Member } from './sticky-assignment.js';

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const groups = (maxPartitions: number, maxMembers: number) =>
  fc.tuple(fc.nat(maxPartitions), fc.integer({ min: 1, max: maxMembers })).chain(([count, members]) =>
    fc.record({
      partitions: fc.constant(range(count)),
      // Some hold partitions that no longer exist, or that another member holds too.
      members: fc.tuple(
        ...range(members).map((index) =>
          fc.record({
            id: fc.constant(`m${index}`),
            held: fc.uniqueArray(fc.nat(maxPartitions + 2), { maxLength: maxPartitions }),
            isSure: fc.boolean(),
          }),
        ),
      ),
    }),
  );

/** Counts the partitions that stay with their credible holder. */
const keptBy = (holders: ReadonlyMap<number, string>, assigned: ReadonlyMap<string, readonly number[]>): number =>
  [...assigned].flatMap(([id, list]) => list.filter((partition) => holders.get(partition) === id)).length;

function credibleHolders(partitions: readonly number[], members: readonly Member[]): Map<number, string> {
  const holders = new Map<number, string>();
  for (const partition of partitions) {
    const claims = members.filter(({ held }) => held.includes(partition));
    const holder = claims.find(({ isSure }) => isSure) ?? claims[0];
    if (holder) holders.set(partition, holder.id);
  }
  return holders;
}

test('assigns every partition once, and shares differ by at most one', () => {
  fc.assert(
    fc.property(groups(40, 9), ({ partitions, members }) => {
      const assigned = assignSticky(partitions, members);
      expect([...assigned.keys()].sort()).toEqual(members.map(({ id }) => id).sort());
      expect([...assigned.values()].flat().sort((a, b) => a - b)).toEqual(partitions);
      const sizes = [...assigned.values()].map((list) => list.length);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }),
  );
});

test('no balanced assignment keeps more', () => {
  function* assignments(partitions: readonly number[], members: readonly Member[]): Generator<Map<string, number[]>> {
    for (let code = 0; code < members.length ** partitions.length; code++) {
      const assignment = new Map<string, number[]>(members.map(({ id }) => [id, []]));
      let rest = code;
      for (const partition of partitions) {
        assignment.get(members[rest % members.length]!.id)!.push(partition);
        rest = Math.floor(rest / members.length);
      }
      const sizes = [...assignment.values()].map((list) => list.length);
      if (Math.max(...sizes) - Math.min(...sizes) <= 1) yield assignment;
    }
  }
  fc.assert(
    fc.property(groups(6, 3), ({ partitions, members }) => {
      const holders = credibleHolders(partitions, members);
      const best = Math.max(...[...assignments(partitions, members)].map((assignment) => keptBy(holders, assignment)));
      expect(keptBy(holders, assignSticky(partitions, members))).toBe(best);
    }),
  );
});

test('does not depend on the order of the members', () => {
  fc.assert(
    fc.property(
      groups(20, 5).chain((group) =>
        fc.tuple(fc.constant(group), fc.shuffledSubarray(group.members, { minLength: group.members.length })),
      ),
      ([{ partitions, members }, shuffled]) => {
        expect(new Map([...assignSticky(partitions, shuffled)].sort())).toEqual(
          new Map([...assignSticky(partitions, members)].sort()),
        );
      },
    ),
  );
});

test('believes a sure member rather than one that may have been replaced', () => {
  const assigned = assignSticky(
    [0, 1],
    [
      { id: 'a', held: [0, 1], isSure: false },
      { id: 'b', held: [0], isSure: true },
    ],
  );
  expect(assigned).toEqual(
    new Map([
      ['a', [1]],
      ['b', [0]],
    ]),
  );
});
