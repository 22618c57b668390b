/**
 * The contract of every StateStore: state, position and events of a batch are written atomically, by the last
 * claimant only.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Commit, StateStore } from '../../pipeline/ports.js';
import { type Backend, type BackendSite, onFreshBackend, onFreshSite, readTopic, record, textOf } from './backend.js';

function commitOf(
  expectedOffset: number,
  nextOffset: number,
  states: Record<string, string | null>,
  events: readonly string[] = [],
): Commit {
  return {
    expectedOffset,
    nextOffset,
    states: new Map(Object.entries(states).map(([key, text]) => [key, text === null ? null : Buffer.from(text)])),
    publish: [{ topic: 'events', records: events.map((text) => record('device', text)) }],
  };
}

async function statesOf(
  store: StateStore,
  partition: number,
  keys: readonly string[],
): Promise<(string | undefined)[]> {
  return (await store.load(partition, keys)).map((value) => value?.toString());
}

const eventsOf = async ({ log }: Backend): Promise<(string | null)[]> =>
  (await readTopic(log, 'events')).flat().map(textOf);

/** Defines the tests of the contract for one implementation. Each property runs on `numRuns` new backends. */
export function describeStateStoreContract(
  name: string,
  site: () => Promise<BackendSite>,
  { numRuns = 60 } = {},
): void {
  const onBackend = (use: (backend: Backend) => Promise<void>) => () => onFreshBackend(site, use);

  describe(`${name}: state store`, () => {
    test(
      'a partition starts at offset 0 without states, and each claim has a higher token',
      onBackend(async ({ stateStore }) => {
        const first = await stateStore.claim(3);
        const second = await stateStore.claim(3);
        expect(first).toMatchObject({ partition: 3, nextOffset: 0 });
        expect(second.token).toBeGreaterThan(first.token);
        expect(await statesOf(stateStore, 3, ['a', 'b'])).toEqual([undefined, undefined]);
      }),
    );

    test(
      'a commit writes states, position and publications of its partition; null deletes',
      onBackend(async (backend) => {
        const { stateStore } = backend;
        const claim = await stateStore.claim(0);
        const other = await stateStore.claim(1);
        expect(await stateStore.commit(claim, commitOf(0, 5, { a: '1', b: '1' }, ['e1']))).toBe('committed');
        expect(await stateStore.commit(claim, commitOf(5, 6, { a: '2', b: null }, ['e2', 'e3']))).toBe('committed');
        expect(await stateStore.commit(other, commitOf(0, 1, { a: 'other' }))).toBe('committed');
        expect(await statesOf(stateStore, 0, ['b', 'a'])).toEqual([undefined, '2']);
        expect(await statesOf(stateStore, 1, ['a', 'b'])).toEqual(['other', undefined]);
        expect(await eventsOf(backend)).toEqual(['e1', 'e2', 'e3']);
        expect((await stateStore.claim(0)).nextOffset).toBe(6);
        expect((await stateStore.claim(1)).nextOffset).toBe(1);
      }),
    );

    test(
      'publications keep their headers',
      onBackend(async ({ stateStore, log }) => {
        const claim = await stateStore.claim(0);
        const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
        const records = [{ ...record('device', 'e1'), headers }];
        await stateStore.commit(claim, { ...commitOf(0, 1, {}), publish: [{ topic: 'events', records }] });
        expect((await readTopic(log, 'events')).flat().map((each) => each.headers)).toEqual([headers]);
      }),
    );

    test(
      "an older claim can't write or publish",
      onBackend(async (backend) => {
        const { stateStore } = backend;
        const older = await stateStore.claim(0);
        await stateStore.commit(older, commitOf(0, 1, { a: 'mine' }));
        const newer = await stateStore.claim(0);
        expect(await stateStore.commit(older, commitOf(1, 2, { a: 'zombie', b: 'zombie' }, ['zombie']))).toBe('fenced');
        expect(await statesOf(stateStore, 0, ['a', 'b'])).toEqual(['mine', undefined]);
        expect(await eventsOf(backend)).toEqual([]);
        expect(await stateStore.commit(newer, commitOf(1, 2, { a: 'new' }, ['new']))).toBe('committed');
        expect(await eventsOf(backend)).toEqual(['new']);
      }),
    );

    test(
      'a commit from another position than the stored one writes nothing',
      onBackend(async (backend) => {
        const { stateStore } = backend;
        const claim = await stateStore.claim(0);
        await stateStore.commit(claim, commitOf(0, 10, { a: '1' }));
        for (const expected of [0, 9, 11]) {
          expect(await stateStore.commit(claim, commitOf(expected, 20, { a: '2' }, ['no']))).toBe('fenced');
        }
        expect(await statesOf(stateStore, 0, ['a'])).toEqual(['1']);
        expect(await eventsOf(backend)).toEqual([]);
        expect((await stateStore.claim(0)).nextOffset).toBe(10);
      }),
    );

    test(
      'of concurrent commits from one position exactly one wins',
      onBackend(async (backend) => {
        const { stateStore } = backend;
        const claim = await stateStore.claim(0);
        const results = await Promise.all(
          Array.from({ length: 8 }, (_, i) => stateStore.commit(claim, commitOf(0, 1, { a: `${i}` }, [`${i}`]))),
        );
        expect(results.filter((each) => each === 'committed').length).toBe(1);
        const winner = `${results.indexOf('committed')}`;
        expect(await statesOf(stateStore, 0, ['a'])).toEqual([winner]);
        expect(await eventsOf(backend)).toEqual([winner]);
      }),
    );

    test(
      'a mark is stored with its position until a commit has another one or none; reading it affects no claim',
      onBackend(async ({ stateStore }) => {
        const claim = await stateStore.claim(0);
        expect(claim.mark).toBeNull();
        await stateStore.commit(claim, { ...commitOf(0, 3, { a: '1' }, ['e1']), mark: '2:1:1000:ab' });
        expect(await stateStore.position(0)).toEqual({ offset: 3, mark: '2:1:1000:ab' });
        await stateStore.commit(claim, { ...commitOf(3, 4, { a: '2' }), mark: '3:1:1001:cd' });
        const next = await stateStore.claim(0);
        expect(next).toMatchObject({ nextOffset: 4, mark: '3:1:1001:cd' });
        // The position moves back, as in a repair.
        expect(await stateStore.commit(next, commitOf(4, 2, {}))).toBe('committed');
        expect(await stateStore.position(0)).toEqual({ offset: 2, mark: null });
        expect(await stateStore.position(1)).toEqual({ offset: 0, mark: null });
      }),
    );

    test(
      'a claim is held until another one follows',
      onBackend(async ({ stateStore }) => {
        const [first, other] = [await stateStore.claim(0), await stateStore.claim(1)];
        await stateStore.commit(first, commitOf(0, 5, { a: '1' }));
        expect(await stateStore.verify([first, other])).toEqual(['held', 'held']);
        const second = await stateStore.claim(0);
        expect(await stateStore.verify([first, other, second])).toEqual(['claimed', 'held', 'held']);
        expect(await stateStore.verify([])).toEqual([]);
      }),
    );

    test('everything is stored after a reopen', () =>
      onFreshSite(site, async (place) => {
        let backend = await place.open();
        let claim = await backend.stateStore.claim(0);
        await backend.stateStore.commit(claim, commitOf(0, 7, { a: '1' }, ['e1']));
        await backend.close();
        backend = await place.open();
        expect(await statesOf(backend.stateStore, 0, ['a'])).toEqual(['1']);
        expect(await eventsOf(backend)).toEqual(['e1']);
        const before = claim.token;
        claim = await backend.stateStore.claim(0);
        expect(claim.nextOffset).toBe(7);
        expect(claim.token).toBeGreaterThan(before);
        await backend.close();
      }));

    test(
      'outcomes and dead letters are published too, and wake their consumers',
      onBackend(async ({ stateStore, log }) => {
        const received: string[] = [];
        const subscription = log.consume({
          topic: 'outcomes',
          group: 'test',
          maxBatchRecords: 10,
          maxWaitMs: 0,
          handler: {
            assigned: async () => 0,
            revoked: async () => {},
            records: async (_partition, records) => {
              received.push(...records.map((each) => textOf(each) ?? ''));
              if (received.length === 2) finish();
            },
          },
        });
        let finish = () => {};
        const finished = new Promise<void>((resolve) => {
          finish = resolve;
        });
        const claim = await stateStore.claim(0);
        await stateStore.commit(claim, {
          expectedOffset: 0,
          nextOffset: 1,
          states: new Map(),
          publish: [
            { topic: 'outcomes', records: [record('d', 'o1'), record('d', 'o2')] },
            { topic: 'dead-letters', records: [record('d', 'x')] },
          ],
        });
        await finished;
        await subscription.close();
        expect(received).toEqual(['o1', 'o2']);
        expect((await readTopic(log, 'dead-letters')).flat().map(textOf)).toEqual(['x']);
      }),
    );

    const key = fc.constantFrom('a', 'b', 'c', 'd');
    const step = fc.oneof(
      fc.record({ kind: fc.constant('claim' as const), owner: fc.nat(2), partition: fc.nat(1) }),
      fc.record({
        kind: fc.constant('commit' as const),
        owner: fc.nat(2),
        partition: fc.nat(1),
        lead: fc.constantFrom(0, 0, 0, 1),
        states: fc.dictionary(key, fc.option(fc.string({ maxLength: 5 }))),
        events: fc.array(fc.string({ maxLength: 5 }), { maxLength: 3 }),
      }),
    );
    test('any sequence of claims and commits by three owners matches a model of plain maps', () =>
      fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), (steps) =>
          onFreshBackend(site, async (backend) => {
            const { stateStore } = backend;
            const model = [0, 1].map(() => ({
              owner: -1,
              offset: 0,
              states: new Map<string, string>(),
              events: [] as string[],
            }));
            const claims = new Map<string, Awaited<ReturnType<StateStore['claim']>>>();
            const events: string[] = [];
            for (const each of steps) {
              const partition = model[each.partition]!;
              const held = `${each.owner}/${each.partition}`;
              if (each.kind === 'claim') {
                const claim = await stateStore.claim(each.partition);
                expect(claim.nextOffset).toBe(partition.offset);
                claims.set(held, claim);
                partition.owner = each.owner;
                continue;
              }
              const claim = claims.get(held);
              if (claim === undefined) continue;
              const expected = partition.offset + each.lead;
              const result = await stateStore.commit(claim, commitOf(expected, expected + 1, each.states, each.events));
              const rightful = partition.owner === each.owner && each.lead === 0;
              expect(result).toBe(rightful ? 'committed' : 'fenced');
              if (!rightful) continue;
              partition.offset = expected + 1;
              for (const [name, text] of Object.entries(each.states)) {
                if (text === null) partition.states.delete(name);
                else partition.states.set(name, text);
              }
              events.push(...each.events);
            }
            expect(await eventsOf(backend)).toEqual(events);
            for (const [index, partition] of model.entries()) {
              const keys = ['a', 'b', 'c', 'd'];
              expect(await statesOf(stateStore, index, keys)).toEqual(keys.map((each) => partition.states.get(each)));
            }
          }),
        ),
        { numRuns },
      ));
  });
}
