import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assignSticky, type Member } from './sticky.js';

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const groups = (maxPartitions: number, maxMembers: number) =>
  fc.tuple(fc.nat(maxPartitions), fc.integer({ min: 1, max: maxMembers })).chain(([count, members]) =>
    fc.record({
      partitions: fc.constant(range(count)),
      // Some hold what isn't there any more, or what another holds too.
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

/** Partitions that stay with the member whose claim counts. */
const keptBy = (holders: ReadonlyMap<number, string>, given: ReadonlyMap<string, readonly number[]>): number =>
  [...given].flatMap(([id, list]) => list.filter((partition) => holders.get(partition) === id)).length;

function credibleHolders(partitions: readonly number[], members: readonly Member[]): Map<number, string> {
  const holders = new Map<number, string>();
  for (const partition of partitions) {
    const claims = members.filter(({ held }) => held.includes(partition));
    const holder = claims.find(({ isSure }) => isSure) ?? claims[0];
    if (holder) holders.set(partition, holder.id);
  }
  return holders;
}

test('every partition is given once, and shares differ by one at most', () => {
  fc.assert(
    fc.property(groups(40, 9), ({ partitions, members }) => {
      const given = assignSticky(partitions, members);
      expect([...given.keys()].sort()).toEqual(members.map(({ id }) => id).sort());
      expect([...given.values()].flat().sort((a, b) => a - b)).toEqual(partitions);
      const sizes = [...given.values()].map((list) => list.length);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }),
  );
});

test('no balanced division keeps more', () => {
  function* divisions(partitions: readonly number[], members: readonly Member[]): Generator<Map<string, number[]>> {
    for (let code = 0; code < members.length ** partitions.length; code++) {
      const division = new Map<string, number[]>(members.map(({ id }) => [id, []]));
      let rest = code;
      for (const partition of partitions) {
        division.get(members[rest % members.length]!.id)!.push(partition);
        rest = Math.floor(rest / members.length);
      }
      const sizes = [...division.values()].map((list) => list.length);
      if (Math.max(...sizes) - Math.min(...sizes) <= 1) yield division;
    }
  }
  fc.assert(
    fc.property(groups(6, 3), ({ partitions, members }) => {
      const holders = credibleHolders(partitions, members);
      const best = Math.max(...[...divisions(partitions, members)].map((division) => keptBy(holders, division)));
      expect(keptBy(holders, assignSticky(partitions, members))).toBe(best);
    }),
  );
});

test('what the leader makes of it depends on nothing but what the members say', () => {
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

test('a member that may have been replaced yields to one that is sure', () => {
  const given = assignSticky(
    [0, 1],
    [
      { id: 'a', held: [0, 1], isSure: false },
      { id: 'b', held: [0], isSure: true },
    ],
  );
  expect(given).toEqual(
    new Map([
      ['a', [1]],
      ['b', [0]],
    ]),
  );
});
