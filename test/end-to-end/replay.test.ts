/** `fenceline replay` beside a running server and on the folder of a stopped one. */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFiles } from '../../testing/open-files.js';
import { services } from '../../testing/services/services.js';
import { until } from '../../testing/until.js';
import { buildWorkload } from '../ledger/workload.js';
import { type Client, type Json, ok } from '../support/client.js';
import { at, circle, standing } from '../support/places.js';
import { program } from '../support/program.js';
import { TestServer } from '../support/server.js';

interface Ended {
  readonly status: number | null;
  readonly lines: readonly string[];
  readonly errors: string;
}

const guide = readFileSync(new URL('../../docs/replay.md', import.meta.url), 'utf8');

let server: TestServer;
let backend: Client;
let workFolder = '';
/** The folder for temporary files of this test's replays. */
let temporaryFolder = '';

const environment = (of = server) => ({
  ...process.env,
  ...of.environment,
  TMPDIR: temporaryFolder,
  FENCELINE_DATA: of.dataFolder,
  FENCELINE: of.address,
  SK: of.keys.test_secret,
  PK: of.keys.test_publishable,
});

/** Runs a program to its end. */
function run(file: string, args: readonly string[], of = server): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { env: environment(of), cwd: workFolder, maxBuffer: 2 ** 26 };
    const child = execFile(file, args, options, (_, output, errors) => {
      resolve({ status: child.exitCode, lines: output.split('\n').filter(Boolean), errors });
    });
  });
}
const replay = (...args: string[]): Promise<Ended> =>
  run(process.execPath, [program, 'replay', '--environment', 'test', ...args]);

async function replayed(...args: string[]): Promise<Json[]> {
  const { status, lines, errors } = await replay(...args);
  expect(errors).toMatch(/^\S+ locations; .* only on record\n$/);
  expect(status).toBe(0);
  return lines.map((line) => JSON.parse(line));
}

let replayedOnce: Promise<readonly Json[]> | undefined;
/** Returns what a replay without options prints. The server's record of this environment stays as it is. */
const replayedWhole = (): Promise<readonly Json[]> => (replayedOnce ??= replayed());

/** A file in the folder that replays run in. */
function write(name: string, content: string): string {
  writeFileSync(join(workFolder, name), content);
  return name;
}

async function evaluated(): Promise<void> {
  const metrics = async () => (await server.withKey(undefined).get('/metrics')).body as string;
  await until(async () => /^fenceline_location_backlog_records 0$/m.test(await metrics()));
}

/** Returns all events that the API lists, by id. */
const listedEvents = async (): Promise<Map<string, Json>> =>
  new Map((await backend.listed('events')).map((event) => [event._id, event]));

beforeAll(async () => {
  workFolder = mkdtempSync(join(tmpdir(), 'fenceline-replay-work-'));
  temporaryFolder = mkdtempSync(join(tmpdir(), 'fenceline-replay-temporary-'));
  // A replay evaluates everything itself, whichever node has a partition.
  server = await TestServer.startAlone();
  backend = server.as('test_secret');
  const { settings, resources, devices } = buildWorkload(7, { devices: 25, locationsPerDevice: 60 }, Date.now());
  ok(await backend.put('/v1/settings', settings));
  for (const { kind, externalId, fields } of resources) ok(await backend.put(`/v1/${kind}/kill/${externalId}`, fields));
  ok(await backend.bulk(devices.flat()));
  await evaluated();
});
afterAll(async () => {
  await server?.dispose();
  for (const folder of [workFolder, temporaryFolder]) rmSync(folder, { recursive: true, force: true });
});

describe('beside a running server', () => {
  it('yields exactly the events that the API lists', async () => {
    const events = await replayedWhole();
    expect(events.length).toBeGreaterThan(200);
    const listed = await until(async () => {
      const map = await listedEvents();
      return map.size >= events.length && map;
    });
    expect(Object.fromEntries(events.map((event) => [event._id, event]))).toEqual(Object.fromEntries(listed));
  });

  it('finds no difference without changes, and the differences of proposed geofences', async () => {
    expect(await replayed('--compare')).toEqual([]);
    const feature = (externalId: string, eastM: number) => ({
      type: 'Feature',
      geometry: { type: 'Point', coordinates: at(eastM, 10_000) },
      properties: { tag: 'kill', externalId, description: externalId, radius: 500 },
    });
    const collection = { type: 'FeatureCollection', features: [feature('home', 10_000), feature('nowhere', 20_000)] };
    const file = write('proposed.geojson', JSON.stringify(collection));
    const differences = await replayed('--geofences', file, '--compare');
    const all = [...(await listedEvents()).values()];
    const gone = all.filter(({ geofence }) => geofence && geofence.externalId !== 'home');
    expect(new Set(differences.map(({ event }) => event._id))).toEqual(new Set(gone.map(({ _id }) => _id)));
    expect(new Set(differences.map(({ foundIn }) => foundIn))).toEqual(new Set(['record']));
  });

  it('finds the same over the API: no difference without changes, and those of proposed geofences', async () => {
    const ended = async (body: object): Promise<Json> => {
      const { replay } = (await backend.post('/v1/replays', body)).body;
      return until(async () => {
        const now = ok(await backend.get(`/v1/replays/${replay._id}`)).replay;
        return now.status !== 'running' && now;
      });
    };
    const idsOf = async ({ _id }: Json, foundIn: string): Promise<string[]> => {
      const { events } = ok(await backend.get(`/v1/replays/${_id}/events?foundIn=${foundIn}&limit=1000`));
      return events.map(({ event }: Json) => event._id);
    };
    const same = await ended({ geofences: [] });
    expect(same).toMatchObject({ status: 'completed', kept: { replay: 0, record: 0 } });
    const listed = await until(async () => {
      const map = await listedEvents();
      return map.size >= same.kept.both && [...map.values()];
    });
    expect((await idsOf(same, 'both')).sort()).toEqual(listed.map(({ _id }) => _id).sort());

    const home = { tag: 'kill', externalId: 'home', description: 'home', ...circle(10_000, 10_000, 500) };
    const changed = await ended({ geofences: [home], keepGeofences: false });
    const gone = listed.filter(({ geofence }) => geofence && geofence.externalId !== 'home');
    expect(changed).toMatchObject({ status: 'completed', kept: { replay: 0, record: gone.length } });
    expect((await idsOf(changed, 'record')).sort()).toEqual(gone.map(({ _id }) => _id).sort());
  });

  it('accepts a range and a warm-up', async () => {
    const earlier = await replay('--from', '-1h', '--to', '-30m');
    expect(earlier).toMatchObject({ status: 0, lines: [] });
    expect(earlier.errors).toMatch(/^No locations of environment test are held from \S+ to \S+; .*\n$/);
    expect(await replayed('--from', '-1h', '--to=-0s', '--warm-up', '24h')).toHaveLength(
      (await replayedWhole()).length,
    );
  });
});

/** What does not depend on the backend. */
function describeCommand(): void {
  describe('the output', () => {
    it('prints CSV rows and a summary', async () => {
      const events = await replayedWhole();
      const { lines: rows } = await replay('--format', 'csv');
      expect(rows[0]).toMatch(/^foundIn,firstLocation,_id,type,/);
      expect(rows.slice(1).map((row) => row.split(',')[2])).toEqual(events.map(({ _id }) => _id));
      const { lines } = await replay('--format', 'summary');
      expect(lines[0]).toBe('1,500 locations: 1,500 applied, 0 repeats, 0 stale');
      expect(lines.find((line) => line.startsWith('geofence kill/home '))).toMatch(/ 25 {8}25( {9}0){6}$/);
    });
  });

  describe('an error', () => {
    it('in a geofence is reported with line, field and rule, and stops the run unless it may be skipped', async () => {
      const fields = { description: 'A', type: 'circle', coordinates: [10, 50], radius: 100, tag: 't' };
      const lines = [{ ...fields, externalId: 'a' }, { ...fields, externalId: 'b', radius: 5 }, fields];
      const file = write('bad.ndjson', lines.map((line) => JSON.stringify(line)).join('\n'));
      const problems =
        'bad.ndjson, line 2: radius: must be a number from 10 to 10000 metres\n' +
        'bad.ndjson, line 3: externalId: is required\n';
      expect(await replay('--geofences', file)).toEqual({ status: 1, lines: [], errors: problems });
      const { status, errors } = await replay('--geofences', file, '--skip-invalid');
      expect(errors.startsWith(problems)).toBe(true);
      expect(status).toBe(0);
    });

    it.each([
      [['--project', '0'.repeat(24)], '--project must be the id of a project:', 2],
      [['--geofences', 'none.json'], '--geofences none.json: there is no such file', 1],
      [['--since', '-1h'], 'unknown option --since', 2],
    ])('in the arguments %j is reported in one line', async (args, problem, expected) => {
      const { status, lines, errors } = await replay(...args);
      expect(errors.startsWith(`fenceline: ${problem}`)).toBe(true);
      expect(errors.trim()).not.toContain('\n');
      expect([status, lines]).toEqual([expected, []]);
    });
  });

  // Topics keep what was erased until their retention ends. The command printed it, although the API left it out.
  it('regression: what was erased is left out, unless the encryption key is missing', async () => {
    const erasing = await TestServer.startAlone();
    try {
      const secret = erasing.as('test_secret');
      await secret.putGeofence('gate', circle(0, 0, 100));
      for (const userId of ['ann', 'bob']) await secret.track({ deviceId: `of ${userId}`, userId, ...standing(0, 0) });
      const { erasure } = (await secret.delete('/v1/users/ann')).body;
      await until(async () => ok(await secret.get(`/v1/erasures/${erasure._id}`)).erasure.status === 'done');
      const args = [program, 'replay', '--environment', 'test', '--format', 'ndjson'];
      const usersOf = ({ lines }: Ended) => lines.map((line) => JSON.parse(line).user.userId);
      const left = await run(process.execPath, args, erasing);
      expect([usersOf(left), left.errors]).toEqual([['bob'], expect.not.stringContaining('encryption key')]);
      if (erasing.cluster) return;
      renameSync(join(erasing.dataFolder, 'encryption-key'), join(erasing.dataFolder, 'key-elsewhere'));
      const all = await run(process.execPath, args, erasing);
      expect([usersOf(all).sort(), all.errors]).toEqual([
        ['ann', 'bob'],
        expect.stringContaining('The encryption key is missing, so events that were erased are printed, too'),
      ]);
    } finally {
      await erasing.dispose();
    }
  });

  describe.runIf(process.platform === 'linux')('an ended replay', () => {
    const readModelWithoutName = (process?: number): boolean =>
      openFiles(process).some((path) => path.startsWith(temporaryFolder)) && readdirSync(temporaryFolder).length === 0;

    // A killed one left its copy of the configuration, which has metadata and names of people, in the temporary folder.
    it.each([
      ['SIGINT', [130, null]],
      ['SIGKILL', [null, 'SIGKILL']],
    ] as const)('leaves no files behind on %s', async (signal, end) => {
      const many = Array.from({ length: 60_000 }, (_, index) =>
        JSON.stringify({
          tag: 't',
          externalId: `${index}`,
          description: 'A',
          type: 'circle',
          coordinates: [10, 50],
          radius: 100,
        }),
      );
      const args = [program, 'replay', '--environment', 'test', '--geofences', write('many.ndjson', many.join('\n'))];
      const child = spawn(process.execPath, args, { env: environment(), cwd: workFolder, stdio: 'ignore' });
      // A kill between making and removing the files' names would leave an empty read model.
      await until(() => readModelWithoutName(child.pid));
      child.kill(signal);
      expect(await once(child, 'exit')).toEqual(end);
      expect(readdirSync(temporaryFolder)).toEqual([]);
    });
  });

  describe('the guide', () => {
    const blocksOf = (kind: string): string[] =>
      [...guide.matchAll(new RegExp(`\`\`\`${kind}\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, block]) => block as string);
    const [location, example, calls] = blocksOf('sh');
    const [output] = blocksOf('text');
    const quiet = 'curl() { command curl --silent --show-error --fail-with-body "$@"; echo; }\n';

    it('shows the output of its example, and the calls that yield the same', async () => {
      const guided = await TestServer.start();
      try {
        const secret = guided.as('test_secret');
        await secret.putGeofence('duomo', { ...circle(0, 0, 120), coordinates: [11.2558, 43.7731] }, 'store');
        for (const longitude of [11.256, 11.3])
          await secret.track({ deviceId: 'phone-1', longitude, latitude: 43.7731, accuracy: 10 });
        const answer = await run('bash', ['-e', '-c', quiet + location], guided);
        expect(JSON.parse(answer.lines[0] as string).events).toEqual([]);
        const command = `"${process.execPath}" "${program}"`;
        const script = example!.replace('npm run --silent fenceline --', command);
        const { lines } = await run('bash', ['-e', '-c', script], guided);
        const shown = output!.split('\n').filter((line) => line !== '' && line !== '…');
        const timeless = (line: string) => line.replace(/^\+ \S+/, '+');
        expect(lines.map(timeless)).toEqual(expect.arrayContaining(shown.map(timeless)));

        const { lines: answers } = await run('bash', ['-e', '-c', quiet + calls], guided);
        const { replay, events } = Object.assign({}, ...answers.map((line) => JSON.parse(line)));
        expect(events).toBeInstanceOf(Array);
        await until(async () => ok(await secret.get(`/v1/replays/${replay._id}`)).replay.status === 'completed');
        const found = ok(await secret.get(`/v1/replays/${replay._id}/events?foundIn=replay`)).events;
        expect(found.map(({ event }: Json) => event.user.deviceId)).toEqual(['phone-2']);
      } finally {
        await guided.dispose();
      }
    });
  });
}
if (!services()) describeCommand();

describe('of a stopped server', () => {
  /** All files but LMDB's tables of readers. */
  function digests(folder: string): Record<string, string> {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) => !name.endsWith('lock.mdb'),
    );
    return Object.fromEntries(
      files
        .filter((name) => statSync(join(folder, name)).isFile())
        .map((name) => [
          name,
          createHash('sha256')
            .update(readFileSync(join(folder, name)))
            .digest('hex'),
        ]),
    );
  }

  it('yields the same events and changes no file', async () => {
    const before = await replayedWhole();
    await server.stop();
    const files = digests(server.dataFolder);
    expect(await replayed()).toEqual(before);
    expect(digests(server.dataFolder)).toEqual(files);
    expect(readdirSync(temporaryFolder)).toEqual([]);
    await server.restart();
    expect((await backend.track({ deviceId: 'afterwards', ...standing(0, 0) })).meta.code).toBe(200);
  });
});
