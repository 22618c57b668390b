/**
 * An operator restored a part of a backup: `log/` is older than `state/`, `deliveries/`, `analytics/` and the read
 * model.
 *
 * Partitions whose position is beyond the log, or on another history, halt with a message. The others continue. The
 * configuration is that of the log. `fenceline repair positions` ends the halt, skips no location and applies none
 * twice.
 */
import { cpSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { openEmbedded } from '../../backends/embedded/embedded.js';
import { partitionOfKey } from '../../backends/embedded/partitioner.js';
import { type Log, type Topic, topics } from '../../pipeline/ports.js';
import { deviceKey } from '../../pipeline/records/device-key.js';
import { codecs } from '../../schemas/codecs.js';
import { Receiver } from '../../testing/receiver.js';
import { until } from '../../testing/until.js';
import { type Json, ok } from '../support/client.js';
import { circle, standing } from '../support/places.js';
import { runCommand } from '../support/program.js';
import { TestServer } from '../support/server.js';

const timeout = 600_000;
const partitions = 2;
/** The partition that loses records, and the one that loses none. */
const losing = 0;
const whole = 1;
const batch = 20;

interface Scene {
  readonly server: TestServer;
  readonly project: string;
  readonly receiver: Receiver;
  /** Requests to the webhook before the log was replaced, and their number when the server started. */
  readonly earlier: Receiver['requests'];
  readonly begin: number;
}

/** Returns devices of the partition, whose names begin with `name`. */
function devicesOf({ project }: Scene, partition: number, name: string, count = batch): string[] {
  const devices: string[] = [];
  for (let index = 0; devices.length < count; index++) {
    const deviceId = `${name}-${index}`;
    if (partitionOfKey(deviceKey({ project, environment: 'test', deviceId }), partitions) === partition)
      devices.push(deviceId);
  }
  return devices;
}

/** Sends one location of each device, inside of the fence. Resolves when all are acknowledged. */
async function send({ server }: Scene, devices: readonly string[]): Promise<void> {
  const lines = devices.map((deviceId) => ({ deviceId, ...standing(0, 0), accuracy: 5, updatedAtMs: Date.now() }));
  expect(ok(await server.as('test_secret').bulk(lines)).accepted).toBe(devices.length);
}

const seenBy = ({ receiver, earlier, begin }: Scene): string[] =>
  [...earlier, ...receiver.requests.slice(begin)].map(
    ({ body }) => JSON.parse(body.toString()).event?.user?.deviceId ?? body.toString(),
  );

/** Resolves when the webhook has had an event of each device. */
const delivered = (scene: Scene, devices: readonly string[]) =>
  until(() => {
    const seen = new Set(seenBy(scene));
    return devices.every((device) => seen.has(device));
  }, describedBy(scene));

const fenceNames = async ({ server }: Scene): Promise<string[]> =>
  ok(await server.as('test_secret').get('/v1/geofences?limit=1000'))
    .geofences.map(({ externalId, description }: Json) => `${externalId}: ${description}`)
    .sort();

/** Returns the partitions that are halted now, as operators see them. */
async function halted({ server }: Scene): Promise<string[]> {
  const text = await (await fetch(`${server.address}/metrics`)).text();
  return [...text.matchAll(/^fenceline_partitions_diverged\{[^}]*"(\w+)"\} ([1-9]\d*)$/gm)]
    .map(([, topic, count]) => `${topic} ${count}`)
    .sort();
}

const describedBy = ({ server }: Scene) => ({ describe: () => server.process.log().join('\n') });

/** Returns the line of the log that names the halted partition of the locations, once it is written. */
const haltOfLocations = (scene: Scene): Promise<string> =>
  until(() => haltLines(scene).find((line) => line.includes('topic locations')), describedBy(scene));

/** Lines of the log that name a halted partition. */
const haltLines = ({ server }: Scene): string[] =>
  server.process.log().filter((line) => line.includes('is not the log that was read before'));

/** Returns the decoded records of the folder's topics. No process may have it open. */
async function contents({ server }: Scene) {
  const { log, close } = openEmbedded({ path: server.dataFolder, partitions });
  const values = async (topic: Topic) =>
    (await Promise.all(range(log, topic).map((each) => log.read(topic, each, 0, 100_000)))).flatMap(
      (each) => each.records,
    );
  try {
    const outcomes = (await values(topics.outcomes)).map(({ value }) => codecs.outcome.decode(value as Buffer));
    const events = (await values(topics.events)).map(({ value }) => codecs.event.decode(value as Buffer));
    return {
      applied: counted(outcomes.filter(({ result }) => result === 'applied').map(({ location }) => location.deviceId)),
      notApplied: outcomes.filter(({ result }) => result !== 'applied').map(({ location }) => location.deviceId),
      entered: counted(events.map(({ user }) => user?.deviceId ?? '')),
    };
  } finally {
    await close();
  }
}

const range = (log: Pick<Log, 'partitions'>, topic: Topic): number[] =>
  Array.from({ length: log.partitions(topic) }, (_, partition) => partition);

function counted(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Expects that every device's only location was applied once, with one event and one request to the webhook. */
async function expectOnce(scene: Scene, devices: readonly string[]): Promise<void> {
  const { applied, notApplied, entered } = await contents(scene);
  const requests = counted(seenBy(scene));
  const off = devices.filter((each) => [applied, entered, requests].some((counts) => counts.get(each) !== 1));
  expect(off.map((each) => [each, applied.get(each), entered.get(each), requests.get(each)])).toEqual([]);
  expect(notApplied).toEqual([]);
}

/** Runs the command line on the data folder as an operator does, without the settings of the node. */
const repair = ({ server }: Scene, ...args: string[]) =>
  runCommand(['repair', 'positions', '--data', server.dataFolder, ...args]);

/** Prepares a stopped server: `kept`, of both partitions, is in log and state; `lost`, of one, is only in the state. */
interface Restored extends Scene {
  readonly kept: string[];
  readonly lost: string[];
}

let restored: Promise<Restored> | undefined;
const closing: (() => unknown)[] = [];
afterAll(() => Promise.all(closing.map((close) => close())));

async function restore(): Promise<Restored> {
  const receiver = await Receiver.start();
  closing.push(() => receiver.close());
  const server = await TestServer.start({
    FENCELINE_LOCATIONS_PARTITIONS: `${partitions}`,
    FENCELINE_WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.0/8',
  });
  closing.push(() => server.dispose());
  const { projects } = ok(await (await server.administrator()).get('/v1/projects'));
  const scene: Scene = { server, receiver, project: projects[0]._id, earlier: [], begin: 0 };
  const client = server.as('test_secret');
  await client.putGeofence('edited', { description: 'before', ...circle(0, 0, 100) });
  await client.putGeofence('deleted', circle(5_000, 0, 100));
  ok(await client.post('/v1/webhooks', { url: receiver.url(), types: ['user.entered_geofence'] }));
  const kept = [...devicesOf(scene, losing, 'kept'), ...devicesOf(scene, whole, 'kept')];
  await send(scene, kept);
  await delivered(scene, kept);
  await server.stop();
  const [log, older] = ['log', 'older-log'].map((name) => join(server.dataFolder, name)) as [string, string];
  cpSync(log, older, { recursive: true });

  await server.restart();
  await client.putGeofence('edited', { description: 'after', ...circle(0, 0, 100) });
  ok(await client.delete('/v1/geofences/test/deleted'));
  for (let index = 0; index < 5; index++) await client.putGeofence(`lost-${index}`, circle(0, 0, 100));
  for (let index = 0; index < 5; index++) ok(await client.delete(`/v1/geofences/test/lost-${index}`));
  await client.putGeofence('lost', circle(9_000, 0, 100));
  const lost = devicesOf(scene, losing, 'lost');
  await send(scene, lost);
  await delivered(scene, lost);
  await server.stop();
  rmSync(log, { recursive: true });
  renameSync(older, log);
  copyFolder(server.dataFolder, copyOf(server));
  closing.push(() => rmSync(copyOf(server), { recursive: true }));
  return { ...scene, earlier: [...receiver.requests], kept, lost };
}

/** Links of chDB hold the whole path: a copy is used only in the place of its original. */
const copyOf = ({ dataFolder }: TestServer): string => `${dataFolder}-copy`;

/** Copies what a stopped server leaves, without the socket that marks its folder as used. */
function copyFolder(from: string, to: string): void {
  const filter = (path: string): boolean => !lstatSync(path).isSocket();
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter });
}

/** Starts the server on the folder with the older log, as it was at first. */
async function startScene(): Promise<Restored> {
  restored ??= restore();
  const scene = await restored;
  const { server, receiver } = scene;
  // A test that failed leaves it running.
  await server.kill();
  rmSync(server.dataFolder, { recursive: true });
  copyFolder(copyOf(server), server.dataFolder);
  const begin = receiver.requests.length;
  await server.restart();
  return { ...scene, begin };
}

const remembered = ['deleted: deleted', 'edited: before'];

it('an older log halts only the diverged partitions, until a stopped node is repaired', {
  timeout,
}, async () => {
  const scene = await startScene();
  const { server } = scene;

  expect(await fenceNames(scene), 'the first answer').toEqual(remembered);
  await until(async () => (await halted(scene)).includes('locations 1'), describedBy(scene));
  const beyond = await haltOfLocations(scene);
  // The log also holds delivery attempts, which the analytics sink reads.
  await until(async () => (await halted(scene)).join() === 'attempts 1,locations 1');
  expect(haltLines(scene).filter((line) => line.includes('topic locations'))).toEqual([beyond]);
  expect(beyond).toMatch(
    /partition 0 of topic locations .* stored position is offset 40, the log ends at 20; .*fenceline repair positions/,
  );
  await until(async () => (await fetch(`${server.address}/health/ready`)).status === 200);

  const others = devicesOf(scene, whole, 'others');
  const waiting = devicesOf(scene, losing, 'waiting', 30);
  await send(scene, waiting);
  await send(scene, others);
  await delivered(scene, others);
  await server.stop();
  const before = await contents(scene);
  expect(waiting.filter((device) => before.applied.has(device))).toEqual([]);

  // Now the log has other records at the offsets that were read.
  await server.restart();
  await until(async () => (await halted(scene)).includes('locations 1'), describedBy(scene));
  const reason = await haltOfLocations(scene);
  expect(reason).toMatch(/partition 0 of topic locations .* the log holds 0 to 50, with other records from 20 on; /);
  expect(reason).toMatch(/ from 20 on; .*fenceline repair positions/);
  await server.stop();

  const dry = await repair(scene);
  expect(dry.code, dry.output).toBe(1);
  expect(dry.output).toMatch(
    /location-stage, topic locations, partition 0: stored 40 .* the log has 0 to 50.*; move to 20/,
  );
  expect(dry.output).toContain('Nothing was changed. Run the command again with --yes');
  expect((await repair(scene)).output).toBe(dry.output);
  const done = await repair(scene, '--yes');
  expect(done.code, done.output).toBe(0);
  expect(done.output).toContain('location-stage, topic locations, partition 0: moved from 40 to 20');
  expect(done.output).toContain('analytics-sink, topic attempts, partition ');
  expect((await repair(scene)).code).toBe(0);

  await server.restart();
  const fresh = [...devicesOf(scene, losing, 'fresh'), ...devicesOf(scene, whole, 'fresh')];
  await send(scene, fresh);
  await delivered(scene, [...waiting, ...fresh]);
  expect(await halted(scene)).toEqual([]);
  expect(haltLines(scene)).toEqual([]);
  await server.stop();
  await expectOnce(scene, [...scene.kept, ...scene.lost, ...others, ...waiting, ...fresh]);
});

it('positions can be repaired while the node runs and accepts locations', { timeout }, async () => {
  const scene = await startScene();
  const { server } = scene;
  await until(async () => (await halted(scene)).includes('locations 1'), describedBy(scene));
  const all = [...scene.kept, ...scene.lost, ...devicesOf(scene, losing, 'waiting')];
  await send(scene, all.slice(-batch));

  let isFlowing = true;
  const flow = (async () => {
    for (let round = 0; isFlowing; round++, await delay(50)) {
      const devices = [losing, whole].flatMap((partition) => devicesOf(scene, partition, `later-${round}`, 3));
      await send(scene, devices);
      all.push(...devices);
    }
  })();
  const dry = await repair(scene);
  expect(dry.code, dry.output).toBe(1);
  expect(await halted(scene)).toContain('locations 1');
  const done = await repair(scene, '--yes');
  expect(done.code, done.output).toBe(0);
  await until(async () => (await halted(scene)).length === 0, describedBy(scene));
  isFlowing = false;
  await flow;

  await delivered(scene, all);
  expect((await repair(scene)).code).toBe(0);
  expect(await fenceNames(scene)).toEqual(remembered);
  // Older tables need their rows again. A node that ran undid the move with its next rows, without a word.
  const place = ['--topic', 'events', '--partition', `${whole}`, '--offset', '0', '--yes'];
  const refused = await repair(scene, '--group', 'analytics-sink', ...place);
  expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('would undo the move; stop it first')]);
  expect((await server.stop()).code).toBe(0);
  await expectOnce(scene, all);

  // The command moved the webhooks too, which would have sent the events again.
  const { output } = await repair(scene, '--group', 'analytics-sink', ...place);
  expect(output.match(/.*: moved/g)).toEqual([`analytics-sink, topic events, partition ${whole}: moved`]);
  const unknown = await repair(scene, '--group', 'webhook', ...place);
  expect([unknown.code, unknown.output]).toEqual([2, expect.stringContaining('no group "webhook" reads partition 1')]);
});
