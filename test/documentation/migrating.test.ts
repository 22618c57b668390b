/** Runs the calls and the program of the guides for users of Tile38 and Traccar. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { until } from '../../testing/until.js';
import { type Json, ok } from '../support/client.js';
import { SharedServer } from '../support/shared-server.js';

const blocksOf = (guide: string, language: string): string[] => {
  const text = readFileSync(new URL(`../../docs/${guide}.md`, import.meta.url), 'utf8');
  return Array.from(
    text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g')),
    ([, block = '']) => block,
  );
};

let server: SharedServer;
const folder = mkdtempSync(join(tmpdir(), 'fenceline-migrating-'));
beforeAll(async () => {
  server = await SharedServer.newProject();
});
afterAll(() => rmSync(folder, { recursive: true }));

const environment = () => ({
  ...process.env,
  FENCELINE: server.address,
  SK: server.keys.test_secret,
  PK: server.keys.test_publishable,
});

/**
 * Answers as Tile38 answers `SCAN` and `INTERSECTS … OBJECTS` to a program: the cursor, then the id and the object of
 * each, and its fields unless the command has `NOFIELDS`. Only `SCAN` answers text. The script of the guide took it for
 * JSON.
 */
const redisCli = `redis-cli() {
  fields=$([[ "$*" == *NOFIELDS* ]] || printf 'kind retail')
  texts=$([[ "$*" == *INTERSECTS* ]] || printf 'note closed')
  printf '%s\\n' 0 $texts \
  north '{"type":"Polygon","coordinates":[[[-112.3,33.4],[-112.2,33.4],[-112.2,33.5],[-112.3,33.5],[-112.3,33.4]]]}' \
  $fields \
  south '{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[-112.3,33.3],[-112.2,33.3],[-112.2,33.35],\
[-112.3,33.3]]]},"properties":{}}'; }`;

/** Runs a block of calls, and returns the answers. */
function answersOf(block: string): Json[] {
  const quiet = `curl() { command curl --silent --show-error --fail-with-body "$@"; echo; }\n${redisCli}\n${block}`;
  const output = execFileSync('bash', ['-e', '-c', quiet], { cwd: folder, env: environment(), encoding: 'utf8' });
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

it('moves a fence, locations and polygons from Tile38', async () => {
  const [fence = '', bulk = '', polygons = ''] = blocksOf('migrating-from-tile38', 'sh');
  const [geofence, webhook, outside, inside] = answersOf(fence);
  expect(geofence.geofence).toMatchObject({ tag: 'fleet', geometryRadius: 6000 });
  expect(webhook.webhook.url).toBe('https://app.example.com/events');
  expect(outside.events).toEqual([]);
  expect(inside.events.map(({ type }: Json) => type)).toEqual(['user.entered_geofence']);
  expect(answersOf(bulk)[0].meta.code).toBe(200);
  expect(answersOf(polygons)[0].import).toMatchObject({ created: 2 });
  expect(ok(await server.as('test_secret').get('/v1/geofences/zone/north')).geofence.type).toBe('polygon');
});

/** What `forward.type` json of Traccar 6 sends besides times. */
const forwardedByTraccar = {
  id: 0,
  attributes: { batteryLevel: 87, distance: 0, totalDistance: 1204.5, motion: true, ignition: true },
  deviceId: 3,
  type: null,
  protocol: 'teltonika',
  serverTime: '2026-01-01T00:00:00.000+00:00',
  outdated: false,
  valid: true,
  latitude: 52.52,
  longitude: 13.405,
  altitude: 34,
  speed: 10,
  course: 90,
  address: null,
  accuracy: 0,
  network: null,
  geofenceIds: null,
};

it('forwards a position of Traccar as a location, once', async () => {
  const [calls = ''] = blocksOf('migrating-from-traccar', 'sh');
  const [program = ''] = blocksOf('migrating-from-traccar', 'js');
  expect(answersOf(calls).map(({ geofence }) => geofence.type)).toEqual(['circle', 'polygon']);
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...environment(), PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      output += bytes;
    });
  }
  await until(() => /listening on \d+/.test(output));
  const [port] = /\d+/.exec(output) ?? [];
  const fixTime = new Date().toISOString().replace('Z', '+00:00');
  const position = { ...forwardedByTraccar, deviceTime: fixTime, fixTime };
  const forward = (changed: Json = {}) => {
    const device = { id: 3, attributes: {}, groupId: 0, calendarId: 0, uniqueId: '860000000000001', name: 'Van 1' };
    const body = JSON.stringify({ position: { ...position, ...changed }, device });
    return fetch(`http://127.0.0.1:${port}/positions`, { method: 'POST', body });
  };
  // A tracker that never had a fix, and a position that will never be valid: Traccar must not try these again.
  const neverFixed = { outdated: true, latitude: 0, longitude: 0, fixTime: '1980-01-06T00:00:19.000+00:00' };
  expect((await forward(neverFixed)).status).toBe(204);
  expect((await forward({ latitude: 91 })).status).toBe(202);
  await until(() => output.includes('latitude: must be'));
  const answer = (await (await forward()).json()) as Json;
  expect(answer.user.metadata).toEqual({ ignition: true, batteryLevel: 87 });
  const entered = answer.events.map(({ type, geofence }: Json) => `${type} ${geofence.externalId}`);
  expect(entered.toSorted()).toEqual(['user.entered_geofence 7', 'user.entered_geofence 8']);
  // Traccar sends a position again when it got no answer. The repetition makes no further event.
  await forward();
  const events = () => server.as('test_secret').get('/v1/events?deviceId=860000000000001');
  await until(async () => ok(await events()).events.length >= entered.length);
  expect(ok(await events()).events).toHaveLength(entered.length);
  // Traccar leaves `outdated` in place when it locates a message by cells. The guide's program dropped these positions.
  const attributes = { ...position.attributes, approximate: true };
  const byCells = await forward({ outdated: true, attributes, accuracy: 700, fixTime: new Date().toISOString() });
  expect((await byCells.json()) as Json).toMatchObject({ user: { locationAccuracy: 700 }, events: [] });
});
