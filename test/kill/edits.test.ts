/**
 * Acknowledged edits survive, and refused ones have no effect: clients, imports, changes of many, a rotated key and
 * projects that are deleted meanwhile edit the same few pairs of (tag, externalId), while devices move through the
 * geofences and the server is killed at random moments. After each restart the lists hold what a ledger permits, and
 * evaluation, events and webhooks agree with them.
 *
 * By default the run is short and its seed is fixed. A campaign (`npm run test:faults`) runs longer, with random seeds.
 */
import { once } from 'node:events';
import { afterAll, expect, it } from 'vitest';
import { createRandom } from '../../schemas/random.js';
import { Receiver } from '../../testing/receiver.js';
import { until } from '../../testing/until.js';
import { deliveredIds } from '../ledger/deliveries.js';
import { contradictions } from '../ledger/edits.js';
import { type Client, type Json, ok } from '../support/client.js';
import { standing } from '../support/places.js';
import { TestServer } from '../support/server.js';
import { Editors, kinds, pairOf, spots } from './editors.js';

const seed = Number(process.env.KILL_SEED);
const isCampaign = process.env.TEST_CAMPAIGN !== undefined;
const size = isCampaign ? { rounds: 12, answersPerRound: 1_500 } : { rounds: 2, answersPerRound: 250 };
const clients = 6;
const devices = 3;

let server: TestServer;
let receiver: Receiver;
afterAll(() => Promise.all([server?.dispose(), receiver?.close()]));

/** Returns a key of a new project. */
const keyOf = (project: Json, kind: string): string =>
  project.keys.find((key: Json) => key.environment === 'test' && key.kind === kind).key;

it('edits beside imports, deletions and kills end as they were answered', { timeout: 900_000 }, async () => {
  const random = createRandom(seed);
  receiver = await Receiver.start();
  server = await TestServer.startAlone({
    FENCELINE_LIMITS_TRACK_PER_DEVICE_PER_SECOND: '0',
    FENCELINE_WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.1/32',
    FENCELINE_WEBHOOKS_RETRY_SCHEDULE: '0.2,1,5,30',
  });
  const administrator = await server.administrator();
  const { project } = ok(await administrator.post('/v1/projects', { name: 'fought over' }));
  let secret = keyOf(project, 'secret');
  const backend = () => server.withKey(secret);
  const device = server.withKey(keyOf(project, 'publishable'));
  ok(await backend().post('/v1/webhooks', { url: receiver.url() }));
  const editors = new Editors(backend);
  const answeredEvents = new Set<string>();
  const deletedKeys: string[] = [];

  /** Moves a device from spot to spot. Returns the ids of the events that were answered. */
  async function move(client: Client, number: number, isOver: () => boolean): Promise<string[]> {
    const steps = createRandom(seed + number);
    const ids: string[] = [];
    while (!isOver()) {
      const there = standing(...steps.pick(spots));
      const { events = [] } = await client.track({ deviceId: `walker-${number}`, ...there }).catch(() => ({}));
      for (const { _id } of events) ids.push(_id);
    }
    return ids;
  }

  async function rotateKey(): Promise<void> {
    const rotation = { environment: 'test', kind: 'secret' };
    secret = ok(await administrator.post(`/v1/projects/${project._id}/keys/rotate`, rotation)).key;
  }

  /** Deletes a project that is edited, imported into and tracked meanwhile. */
  async function deleteProject(isOver: () => boolean): Promise<void> {
    const { project: doomed } = ok(await administrator.post('/v1/projects', { name: 'doomed' }));
    const theirs = server.withKey(keyOf(doomed, 'secret'));
    const others = new Editors(() => theirs);
    let isDeleted = false;
    const isEnded = () => isDeleted || isOver();
    const work = [
      others.edit(random.integer(0, 1e6), isEnded),
      others.import(random.integer(0, 1e6), isEnded),
      move(server.withKey(keyOf(doomed, 'publishable')), 0, isEnded),
    ];
    await until(() => others.answered > 20 || isOver());
    const { status } = await administrator.delete(`/v1/projects/${doomed._id}?name=doomed`);
    if (status === 202) deletedKeys.push(keyOf(doomed, 'secret'));
    isDeleted = true;
    await Promise.all(work);
  }

  const hasMetAnEdit = () => editors.edits.some(({ outcome }) => outcome === 'unknown');
  for (let round = 1; round <= size.rounds || !hasMetAnEdit(); round++) {
    let isOver = false;
    const over = () => isOver;
    const seeds = Array.from({ length: clients }, () => random.integer(0, 1e6));
    const work = [
      ...seeds.map((each) => editors.edit(each, over)),
      editors.import(random.integer(0, 1e6), over),
      deleteProject(over).catch((error: unknown) => {
        if (!isOver) throw error;
      }),
    ];
    const moves = Array.from({ length: devices }, (_, number) => move(device, number, over));
    await rotateKey();
    const due = editors.answered + size.answersPerRound * random.between(0.5, 1);
    // One deletion is answered, however the machine divides its time. A kill may prevent the others.
    await until(() => editors.answered >= due && (round > 1 || deletedKeys.length > 0), { pollEveryMs: 5 });
    // On a busy machine the server answers all edits before this process runs again, and a kill meets none.
    await once(editors.progress, 'sent');
    const killed = server.kill();
    isOver = true;
    expect((await killed).signal).toBe('SIGKILL');
    await Promise.all(work);
    for (const id of (await Promise.all(moves)).flat()) answeredEvents.add(id);
    await server.restart();
    await agrees(`round ${round}, KILL_SEED=${seed}`);
  }
  expect(new Set(editors.edits.map(({ outcome }) => outcome)).size).toBe(3);
  expect(answeredEvents.size).toBeGreaterThan(10);
  expect(deletedKeys).not.toEqual([]);

  async function agrees(where: string): Promise<void> {
    const state = new Map<string, string>();
    for (const kind of kinds) {
      const records = await backend().listed(kind, 3);
      for (const record of records) {
        const pair = pairOf(kind, record.externalId);
        expect(state.has(pair), `${where}: ${pair} is listed twice`).toBe(false);
        state.set(pair, record.description);
        const { [kind.slice(0, -1)]: single } = ok(
          await backend().get(`/v1/${kind}/${record.tag}/${record.externalId}`),
        );
        expect(single, where).toEqual(record);
      }
    }
    expect(contradictions(editors.edits, state), where).toEqual([]);

    for (const key of deletedKeys) expect((await server.withKey(key).get('/v1/geofences')).status, where).toBe(401);

    const fences = await backend().listed('geofences');
    for (const [index, spot] of spots.entries()) {
      const { events } = await device.track({ deviceId: `surveyor-${where}-${index}`, ...standing(...spot) });
      const entered = events.map(({ geofence }: Json) => geofence.description);
      const { longitude, latitude } = standing(...spot);
      const holding = fences.filter(({ geometryCenter: { coordinates } }: Json) => {
        // The geofences are 1,000 m apart, with 100 m of radius.
        const northM = (coordinates[1] - latitude) * 111_229;
        const eastM = (coordinates[0] - longitude) * 111_229 * Math.cos((latitude * Math.PI) / 180);
        return Math.hypot(northM, eastM) < 500;
      });
      expect(entered, `${where}: at ${spot}`).toEqual(holding.map(({ description }: Json) => description));
      for (const { _id } of events) answeredEvents.add(_id);
    }

    const stored = async () => new Set((await backend().listed('events')).map(({ _id }) => _id));
    const last = async () => {
      const [events, delivered] = [await stored(), deliveredIds(receiver)];
      return [...answeredEvents].every((id) => events.has(id)) && [...events].every((id) => delivered.has(id));
    };
    await until(last, { pollEveryMs: 500 });
  }
});
