/**
 * The disk of a node fills up under load and has space again.
 *
 * The disk is a tmpfs, which only root may mount. Without root these tests are skipped, and the test beside
 * `server/data-folder/space-watch.ts` tests the rules alone. Before free space was watched, the first failed commit was
 * answered 500 and ended the process.
 */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { openEmbedded } from '../../backends/embedded/embedded.js';
import { openLogReader } from '../../backends/embedded/reader.js';
import { topics } from '../../pipeline/ports.js';
import { codecs } from '../../schemas/codecs.js';
import { backUp } from '../../server/backup/backup.js';
import { restore } from '../../server/backup/restore.js';
import { StartError } from '../../server/failures.js';
import { acknowledging, Receiver } from '../../testing/receiver.js';
import { until } from '../../testing/until.js';
import { placeBasemap } from '../support/basemap.js';
import { type Answer, ok, trackDefaults } from '../support/client.js';
import { TestServer } from '../support/server.js';

const diskMib = 160;
const minFreeMib = 32;
const mib = 2 ** 20;
const senders = 4;
const circle = { type: 'circle', coordinates: [11.25, 43.77], radius: 500 };

const beacon = {
  description: 'one',
  type: 'ibeacon',
  enabled: true,
  coordinates: [11.25, 43.77],
  uuid: 'b9407f30-f5f8-466e-aff9-25556b57fe6d',
  major: '1',
  minor: '2',
};

const mayMount = process.platform === 'linux' && process.getuid?.() === 0;
const environment = {
  FENCELINE_STORAGE_MIN_FREE_BYTES: `${minFreeMib * mib}`,
  FENCELINE_LIMITS_TRACK_PER_DEVICE_PER_SECOND: '0',
  FENCELINE_WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.0/8',
  FENCELINE_LOG_LEVEL: 'info',
  // While the disk is full, track calls under way wait in vain for their events: half a minute by default in tests.
  FENCELINE_INGEST_REPLY_TIMEOUT_MS: '1000',
};

let server: TestServer | undefined;
let mounted: string | undefined;
let receiver: Receiver | undefined;
afterEach(async () => {
  await server?.kill();
  if (mounted !== undefined) execFileSync('umount', ['--lazy', mounted]);
  await server?.dispose();
  await receiver?.close();
  server = mounted = receiver = undefined;
});

/** Starts a server whose data folder is a small disk. */
async function startOnSmallDisk(): Promise<TestServer> {
  server = await TestServer.start(environment, async (folder) => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMib}m`, 'tmpfs', folder]);
    mounted = folder;
    await placeBasemap(folder);
  });
  return server;
}

const fillerOf = ({ dataFolder }: TestServer): string => join(dataFolder, 'filler');

function freeBytes({ dataFolder }: TestServer): number {
  const { bavail, bsize } = statfsSync(dataFolder);
  return bavail * bsize;
}

/** Fills the disk until `leaveBytes` are free, or the disk is full. */
function fill(on: TestServer, leaveBytes: number): void {
  const filler = fillerOf(on);
  writeFileSync(filler, '');
  try {
    for (;;) {
      const bytes = Math.min(mib, freeBytes(on) - leaveBytes);
      if (bytes <= 0) return;
      appendFileSync(filler, Buffer.alloc(bytes));
    }
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  }
}

async function metric(of: TestServer, name: string): Promise<number> {
  const text = await (await fetch(`${of.address}/metrics`)).text();
  return Number(new RegExp(`^fenceline_${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

const isRefused = ({ status, body, headers }: Answer): boolean =>
  status === 503 && body.meta.type === 'storage_full' && Number(headers.get('retry-after')) > 0;

const linesOf = (of: TestServer, pattern: RegExp): string[] => of.process.log().filter((line) => pattern.test(line));

/** Returns how often each device is in a topic. */
async function devicesIn(
  folder: string,
  topic: typeof topics.locations | typeof topics.events,
): Promise<Map<string, number>> {
  const log = await openLogReader(folder);
  const found = new Map<string, number>();
  for (let partition = 0; partition < log.partitions(topic); partition++) {
    const { first, end } = await log.bounds(topic, partition);
    for (const { value } of (await log.read(topic, partition, first, end - first)).records) {
      const device =
        topic === topics.locations
          ? codecs.location.decode(value as Buffer).deviceId
          : (JSON.parse(JSON.stringify(codecs.event.decode(value as Buffer))).user.deviceId as string);
      found.set(device, (found.get(device) ?? 0) + 1);
    }
  }
  await log.close();
  return found;
}

describe.skipIf(!mayMount)('a disk that is nearly full', () => {
  it('refuses every write with 503, continues to read, and accepts writes again without a restart', async () => {
    const on = await startOnSmallDisk();
    receiver = await Receiver.start();
    receiver.answering = acknowledging;
    const client = on.as('test_secret');
    const administrator = await on.administrator();
    const { project } = ok(await administrator.post('/v1/projects', { name: 'Second' }));
    await client.putGeofence('here', circle);
    const { webhook } = ok(
      await client.post('/v1/webhooks', { url: receiver.url('/hook'), types: ['user.entered_geofence'] }),
    );
    await client.track({ deviceId: 'before', latitude: 43.77, longitude: 11.25 });
    expect(await metric(on, 'storage_writes_refused')).toBe(0);
    await until(() => receiver?.at('/hook').length === 1);

    fill(on, 0.75 * minFreeMib * mib);
    const location = { ...trackDefaults, deviceId: 'phone', latitude: 43.77, longitude: 11.25 };
    // Waits by the metric: a location that was still accepted would cause another webhook request.
    await until(async () => (await metric(on, 'storage_writes_refused')) === 1);

    const writes: Record<string, () => Promise<Answer>> = {
      track: () => client.post('/v1/track', location),
      replay: () => client.post('/v1/track/replay', { replays: [location] }),
      bulk: () => client.bulk([location]),
      conversion: () => client.post('/v1/events', { name: 'bought', deviceId: 'phone' }),
      geofence: () => client.put('/v1/geofences/test/other', { description: 'other', ...circle }),
      'deleted geofence': () => client.delete('/v1/geofences/test/here'),
      beacon: () => client.put('/v1/beacons/test/one', beacon),
      settings: () => client.put('/v1/settings', { stopDetection: true }),
      webhook: () => client.post('/v1/webhooks', { url: 'https://example.com/', types: ['user.entered_geofence'] }),
      'webhook test': () => client.post(`/v1/webhooks/${webhook._id}/test`, {}),
      'webhook secret': () => client.post(`/v1/webhooks/${webhook._id}/secrets`, {}),
      project: () => administrator.post('/v1/projects', { name: 'Third' }),
      key: () => administrator.post(`/v1/projects/${project._id}/keys/rotate`, { environment: 'test', kind: 'secret' }),
    };
    for (const [name, write] of Object.entries(writes)) {
      const answer = await write();
      expect(isRefused(answer), `${name}: ${answer.status} ${JSON.stringify(answer.body)}`).toBe(true);
    }
    // A refused test request is not sent.
    expect(receiver.requests).toHaveLength(1);

    for (const path of ['/v1/geofences', '/v1/webhooks', '/v1/settings', '/v1/topics/events', '/metrics']) {
      expect([path, (await client.get(path)).status]).toEqual([path, 200]);
    }
    await until(async () => (await client.get('/health/ready')).status === 200);
    expect(await metric(on, 'storage_writes_refused')).toBe(1);
    expect(await metric(on, 'storage_min_free_bytes')).toBe(minFreeMib * mib);
    expect(await metric(on, 'storage_free_bytes')).toBeLessThan(minFreeMib * mib);
    expect(linesOf(on, /the disk is nearly full: writes are refused/)).toHaveLength(1);

    // Slightly more free space than the bound is not enough, because of the hysteresis.
    truncateSync(fillerOf(on), Math.floor(statSync(fillerOf(on)).size - (1.05 * minFreeMib * mib - freeBytes(on))));
    expect(freeBytes(on)).toBeGreaterThan(minFreeMib * mib);
    await until(async () => (await metric(on, 'storage_free_bytes')) > minFreeMib * mib);
    expect(isRefused(await client.post('/v1/track', location))).toBe(true);
    rmSync(fillerOf(on));
    await until(async () => (await client.post('/v1/track', location)).status === 200);
    expect(linesOf(on, /the disk has free space again: writes are accepted/)).toHaveLength(1);
    ok(await client.post(`/v1/webhooks/${webhook._id}/test`, {}));
    expect(await metric(on, 'storage_writes_refused')).toBe(0);
  });
});

describe.skipIf(!mayMount)('a disk that fills up under load', () => {
  it('loses nothing acknowledged, answers no 500, aborts nothing, and continues when there is space', async () => {
    const on = await startOnSmallDisk();
    const client = on.as('test_secret');
    const administrator = await on.administrator();
    await client.putGeofence('here', circle);
    const acknowledged = new Set<string>();
    const failures: string[] = [];
    let refusals = 0;
    let isEnding = false;

    async function send(sender: number): Promise<void> {
      for (let sent = 0; !isEnding; sent++) {
        const lines = Array.from({ length: 1 + (sent % 20) }, (_, line) => ({
          deviceId: `phone-${sender}-${sent}-${line}`,
          latitude: 43.77,
          longitude: 11.25,
          ...trackDefaults,
        }));
        const answer = await (sent % 2 > 0 ? client.bulk(lines) : client.post('/v1/track', lines[0] as object));
        const all = sent % 2 > 0 ? lines : lines.slice(0, 1);
        if (answer.status === 200) for (const { deviceId } of all) acknowledged.add(deviceId);
        else if (isRefused(answer)) refusals += 1;
        else failures.push(`${answer.status} ${JSON.stringify(answer.body)}`);
      }
    }
    // A sender without an answer fails the test where it is awaited.
    const sending = Promise.all(Array.from({ length: senders }, (_, sender) => send(sender)));
    sending.catch((error: Error) => failures.push(String(error.cause ?? error)));
    onTestFinished(() => {
      isEnding = true;
    });

    for (const round of [1, 2]) {
      const before = acknowledged.size;
      await until(() => acknowledged.size > before + 200);
      fill(on, 0);
      const refused = refusals;
      await until(() => refusals > refused + 100 || failures.length > 0);
      expect([...new Set(failures)]).toEqual([]);
      expect((await client.get('/v1/geofences')).status, `round ${round}`).toBe(200);
      // It failed with 500, and so did every later one. It may find the space that it requires.
      const snapshot = await administrator.post('/v1/backup-snapshots', {});
      expect(snapshot.status === 200 || isRefused(snapshot), JSON.stringify(snapshot.body)).toBe(true);
      rmSync(fillerOf(on));
      await until(async () => (await administrator.post('/v1/backup-snapshots', {})).status === 200);
    }
    const before = acknowledged.size;
    await until(() => acknowledged.size > before + 200);
    isEnding = true;
    await sending;
    expect([...new Set(failures)]).toEqual([]);
    await until(async () => (await metric(on, 'location_backlog_records')) === 0);
    expect(await on.stop()).toEqual({ code: 0, signal: null });

    const locations = await devicesIn(on.dataFolder, topics.locations);
    const events = await devicesIn(on.dataFolder, topics.events);
    expect([...acknowledged].filter((device) => !locations.has(device))).toEqual([]);
    expect([...locations.keys()].filter((device) => events.get(device) !== 1)).toEqual([]);
  });
});

// The command printed the error object of the engine.
describe.skipIf(!mayMount)('a disk that is too small', () => {
  const digits = 'ab'.repeat(32);
  const disk = mkdtempSync(join(tmpdir(), 'fenceline-small-'));
  const full = new StartError(`the disk of ${join(disk, 'copy')} is full, and nothing was left there`);
  afterAll(() => rmSync(disk, { recursive: true }));

  it('ends a backup and a restore in one line, and keeps nothing of them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fenceline-full-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [data, whole] = [join(folder, 'data'), join(folder, 'backup')];
    await openEmbedded({ path: data, partitions: 1 }).close();
    const snapshots = { take: async () => ({ _id: 's', encryptionKeySha256: null, tables: [] }), drop: async () => {} };
    const backUpTo = (target: string) =>
      backUp({ data, target, snapshots, includeKeys: false, signal: new AbortController().signal });
    await backUpTo(whole);

    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', disk]);
    onTestFinished(() => void execFileSync('umount', ['--lazy', disk]));
    await expect(backUpTo(join(disk, 'copy'))).rejects.toEqual(full);
    await expect(restore({ backup: whole, data: join(disk, 'copy'), givenKey: digits })).rejects.toEqual(full);
    expect(readdirSync(disk)).toEqual([]);
  });
});
