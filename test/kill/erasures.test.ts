/**
 * Erasures survive kills: users move and are erased while the server is killed at random moments. At the end nothing
 * tells of a user what came before an acknowledged erasure, everything of users whom nobody erased is there, and a
 * replay of the log finds the same. Users who come back are new, and stay.
 *
 * By default the run is short and its seed is fixed. A campaign (`npm run test:faults`) runs longer, with random seeds.
 */
import { afterAll, expect, it } from 'vitest';
import { createRandom } from '../../schemas/random.js';
import { until } from '../../testing/until.js';
import { type Client, ok } from '../support/client.js';
import { circle, standing } from '../support/places.js';
import { TestServer } from '../support/server.js';

const seed = Number(process.env.KILL_SEED);
const isCampaign = process.env.TEST_CAMPAIGN !== undefined;
const size = isCampaign ? { rounds: 10, erasuresPerRound: 12 } : { rounds: 2, erasuresPerRound: 6 };
const places = 4;

/** What the answers said of one user, who has a device of the same name. */
interface Ledger {
  readonly name: string;
  /** Ids of records and events that were answered since the last acknowledged erasure began. */
  readonly ids: Set<string>;
  readonly eventIds: Set<string>;
}

let server: TestServer;
afterAll(() => server?.dispose());

it('erasures beside kills end as they were answered', { timeout: 900_000 }, async () => {
  const random = createRandom(seed);
  server = await TestServer.startAlone({ FENCELINE_LIMITS_TRACK_PER_DEVICE_PER_SECOND: '0' });
  const backend = server.as('test_secret');
  for (let place = 0; place < places; place++) await backend.putGeofence(`${place}`, circle(place * 1_000, 0, 100));

  const ledgersOf = (kind: string): Ledger[] =>
    Array.from({ length: 4 }, (_, number) => ({ name: `${kind}-${number}`, ids: new Set(), eventIds: new Set() }));
  const kept = ledgersOf('kept');
  const erased = ledgersOf('erased');
  const gone = { ids: new Set<string>(), eventIds: new Set<string>() };
  const erasures: string[] = [];

  async function move({ name, ids, eventIds }: Ledger, eastM: number): Promise<void> {
    const { user, events } = await server
      .as('test_publishable')
      .track({ deviceId: name, userId: name, ...standing(eastM, 0) });
    ids.add(user._id);
    for (const { _id } of events) eventIds.add(_id);
  }

  async function erase({ name, ids, eventIds }: Ledger): Promise<void> {
    const before = { ids: [...ids], eventIds: [...eventIds] };
    const { status, body } = await backend.delete(`/v1/users/${name}`);
    expect(status).toBe(202);
    erasures.push(body.erasure._id);
    for (const id of before.ids) gone.ids.add(id);
    for (const id of before.eventIds) gone.eventIds.add(id);
    ids.clear();
    eventIds.clear();
  }

  async function live(ledger: Ledger, steps: ReturnType<typeof createRandom>, isOver: () => boolean): Promise<void> {
    const isErased = erased.includes(ledger);
    while (!isOver()) {
      const act = isErased && steps.next() < 0.1 ? erase(ledger) : move(ledger, steps.integer(0, places) * 1_000);
      // A kill takes the answer. Whatever is wrong with an answer fails the test.
      await act.catch((error: unknown) => {
        if (!isOver() || !(error instanceof TypeError)) throw error;
      });
    }
  }

  for (let round = 1; round <= size.rounds; round++) {
    let isOver = false;
    const seeds = [...kept, ...erased].map(() => random.integer(0, 1e6));
    const lives = [...kept, ...erased].map((ledger, index) => live(ledger, createRandom(seeds[index]!), () => isOver));
    const due = erasures.length + size.erasuresPerRound * random.between(0.5, 1);
    await Promise.race([until(() => erasures.length >= due, { pollEveryMs: 5 }), Promise.all(lives)]);
    isOver = true;
    expect((await server.kill()).signal).toBe('SIGKILL');
    await Promise.all(lives);
    await server.restart();
  }
  await until(() => allDone(backend, erasures), { pollEveryMs: 500, timeoutMs: 120_000 });

  const where = `repeat with KILL_SEED=${seed}`;
  const listed = await backend.listed('events');
  expect(
    listed.filter(({ _id, user }) => gone.eventIds.has(_id) || gone.ids.has(user._id)),
    where,
  ).toEqual([]);
  const listedIds = new Set(listed.map(({ _id }) => _id));
  for (const id of gone.ids) expect((await backend.get(`/v1/users/${id}`)).status, where).toBe(404);
  for (const { eventIds } of kept)
    expect(
      [...eventIds].filter((id) => !listedIds.has(id)),
      where,
    ).toEqual([]);

  for (const ledger of erased) {
    // Until the state of a device is erased, its locations continue the old record, and are erased with it.
    ledger.ids.clear();
    ledger.eventIds.clear();
    // Out and in again.
    for (const eastM of [places * 1_000, 0]) await move(ledger, eastM);
  }
  await server.kill();
  await server.restart();
  const returned = erased.flatMap(({ eventIds }) => [...eventIds]);
  expect(
    erased.flatMap(({ ids }) => [...ids]).filter((id) => gone.ids.has(id)),
    where,
  ).toEqual([]);
  const latest = await until(async () => {
    const ids = new Set((await backend.listed('events')).map(({ _id }) => _id));
    return returned.every((id) => ids.has(id)) && ids;
  });
  const { replay } = (await backend.post('/v1/replays', { geofences: [] })).body;
  const ended = await until(async () => {
    const { replay: now } = ok(await backend.get(`/v1/replays/${replay._id}`));
    return now.status !== 'running' && now;
  });
  expect(ended, where).toMatchObject({ status: 'completed', kept: { both: latest.size, replay: 0, record: 0 } });
  expect(gone.eventIds.size).toBeGreaterThan(10);
});

/** Tests whether none of the erasures is under way. Throws if one failed. */
async function allDone(client: Client, erasures: readonly string[]): Promise<boolean> {
  const states = await Promise.all(
    erasures.map(async (id) => ok(await client.get(`/v1/erasures/${id}`)).erasure.status),
  );
  expect(states.filter((state) => state !== 'running' && state !== 'done')).toEqual([]);
  return !states.includes('running');
}
