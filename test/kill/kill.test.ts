/**
 * Nothing is lost and nothing happens twice: the same workload runs once undisturbed and once under SIGKILL at random
 * moments of work and of start-up. Both folders must hold the same record: every acknowledged location is applied once,
 * states and events are the same, each event is once in the log and once in ClickHouse, and each reaches a webhook at
 * least once, in order, and with the same bytes.
 *
 * By default the run is short and its seed is fixed. A campaign (`npm run test:faults`) runs longer, with random seeds,
 * while commands read the folder.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { createRandom } from '../../schemas/random.js';
import { Receiver } from '../../testing/receiver.js';
import { until } from '../../testing/until.js';
import { deliveredIds, refusingSome } from '../ledger/deliveries.js';
import { differences } from '../ledger/differences.js';
import { readLedger } from '../ledger/ledger.js';
import { configure, Progress, send } from '../ledger/sender.js';
import { embeddedSources } from '../ledger/sources.js';
import { brokenByItself, brokenPromises, everyLocationOnce, type Run } from '../ledger/verdict.js';
import { buildWorkload } from '../ledger/workload.js';
import { ok } from '../support/client.js';
import { TestServer } from '../support/server.js';
import { runCommands } from './commands.js';
import { type Kills, killRepeatedly } from './killer.js';

const seed = Number(process.env.KILL_SEED);
const isCampaign = process.env.TEST_CAMPAIGN !== undefined;
const size = isCampaign ? { devices: 400, locationsPerDevice: 100 } : { devices: 60, locationsPerDevice: 30 };
const total = size.devices * size.locationsPerDevice;
const plan = isCampaign ? { kills: 14, killsDuringStart: 4 } : { kills: 2, killsDuringStart: 1 };
const partitions = 4;
/** In seconds. The receiver refuses some first attempts. */
const retrySchedule = '0.2,1,5,30';
const patience = { timeoutMs: 120_000 };

const workload = buildWorkload(1, size, Math.floor(Date.now() / 1_000) * 1_000 - 60_000);
const deviceIds = Array.from({ length: size.devices }, (_, index) => `device-${index}`);
const servers: TestServer[] = [];
const receivers: Receiver[] = [];

afterAll(() =>
  Promise.all([...servers.map((server) => server.dispose()), ...receivers.map((receiver) => receiver.close())]),
);

/** Runs the workload while `disturb` acts on the server, waits until everything is stored, and reads the folder. */
async function run(
  disturb: (server: TestServer, progress: Progress) => Promise<unknown> = async () => {},
): Promise<Run> {
  const server = await TestServer.start({
    FENCELINE_LOCATIONS_PARTITIONS: String(partitions),
    FENCELINE_WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.1/32',
    FENCELINE_WEBHOOKS_RETRY_SCHEDULE: retrySchedule,
  });
  servers.push(server);
  const receiver = await Receiver.start();
  receivers.push(receiver);
  receiver.answering = refusingSome();
  await configure(server, workload);
  ok(await server.as('test_secret').post('/v1/webhooks', { url: receiver.url() }));
  const progress = new Progress();
  await Promise.all([send(server, workload, progress), disturb(server, progress)]);
  expect(progress.acknowledged).toBe(total);
  await everythingIsStored(server, receiver);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  const sources = await embeddedSources(server.dataFolder, partitions);
  return { ledger: await readLedger(sources, deviceIds), receiver };
}

/**
 * Waits until every device is listed at home, where its last location lies: everything before is stored then. After a
 * timeout the test goes on, because the ledger says better than a time limit what is missing.
 */
async function everythingIsStored(server: TestServer, receiver: Receiver): Promise<void> {
  const backend = server.as('test_secret');
  const { geofence } = ok(await backend.get('/v1/geofences/kill/home'));
  const entries = async () =>
    ok(await backend.get(`/v1/events?geofence=${geofence._id}&type=user.entered_geofence&limit=1000`)).events;
  const users = async () => ok(await backend.get('/v1/geofences/kill/home/users?limit=1000')).users.length;
  const stored = async () => (await entries()).length === size.devices && (await users()) === size.devices;
  const delivered = async () => {
    const ids = deliveredIds(receiver);
    return (
      (await entries()).every(({ _id }: { _id: string }) => ids.has(_id)) && (await waitingDeliveries(server)) === 0
    );
  };
  await until(stored, patience)
    .then(() => until(delivered, patience))
    .catch(() => undefined);
}

async function waitingDeliveries(server: TestServer): Promise<number> {
  const { body } = await server.withKey(undefined).get('/metrics');
  return Number(/^fenceline_webhook_deliveries_pending (\d+)/m.exec(body)?.[1]);
}

describe('a server that is killed repeatedly', () => {
  it('ends with the same record as an undisturbed one', { timeout: 480_000 }, async () => {
    const undisturbed = await run();
    expect(new Set(undisturbed.ledger.events.map((line) => line.split(' ')[2])).size).toBe(5);
    expect(undisturbed.ledger.events.length).toBeGreaterThan(total / 20);

    let kills: Kills = { underLoad: 0, duringStart: 0 };
    let commands = 0;
    const disturbed = await run(async (server, progress) => {
      let isOver = false;
      // They take long to start, so the short run goes without them.
      const reading = isCampaign ? runCommands(server, () => isOver) : 0;
      kills = await killRepeatedly(server, plan, progress, total, createRandom(seed));
      isOver = true;
      commands = await reading;
    });
    const { ledger, receiver } = disturbed;
    const { events, arrivedAgain } = ledger;
    console.log(
      `${total} locations, ${events.length} events, ${kills.underLoad} kills under load, ${kills.duringStart} during ` +
        `start, ${commands} commands beside it, ${arrivedAgain} locations sent again, ` +
        `${receiver.requests.length} webhook requests, seed ${seed}`,
    );
    expect(kills, 'kills that met a working server').toEqual({
      underLoad: plan.kills,
      duringStart: plan.killsDuringStart,
    });

    const promised = { repeatsInLog: false };
    const report = [
      ...differences('locations (undisturbed)', everyLocationOnce(workload), undisturbed.ledger.locations),
      ...brokenByItself(undisturbed, promised),
      ...brokenPromises(workload, undisturbed.ledger, disturbed, promised),
    ];
    expect(report, `repeat with KILL_SEED=${seed}${isCampaign ? ' TEST_CAMPAIGN=1' : ''}`).toEqual([]);
  });
});
