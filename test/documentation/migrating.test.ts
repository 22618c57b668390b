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

/** Runs a block of calls, and returns the answers. */
function answersOf(block: string): Json[] {
  const quiet = `curl() { command curl --silent --show-error --fail-with-body "$@"; echo; }\n${block}`;
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
  expect(answersOf(polygons)[0].import).toMatchObject({ created: 1 });
  expect(ok(await server.as('test_secret').get('/v1/geofences/zone/north')).geofence.type).toBe('polygon');
});

it('forwards a position of Traccar as a location, once', async () => {
  const [calls = ''] = blocksOf('migrating-from-traccar', 'sh');
  const [program = ''] = blocksOf('migrating-from-traccar', 'js');
  expect(answersOf(calls).map(({ geofence }) => geofence.type)).toEqual(['circle', 'polygon']);
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...environment(), PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes;
  });
  await until(() => /listening on \d+/.test(output));
  const [port] = /\d+/.exec(output) ?? [];
  const position = { latitude: 52.52, longitude: 13.405, accuracy: 0, fixTime: new Date().toISOString() };
  const forward = async () => {
    const body = JSON.stringify({ position, device: { uniqueId: '860000000000001', name: 'Van 1' } });
    const response = await fetch(`http://127.0.0.1:${port}/positions`, { method: 'POST', body });
    return (await response.json()) as Json;
  };
  const entered = (await forward()).events.map(({ type, geofence }: Json) => `${type} ${geofence.externalId}`);
  expect(entered.toSorted()).toEqual(['user.entered_geofence 7', 'user.entered_geofence 8']);
  // Traccar sends a position again when it got no answer. The repetition makes no further event.
  await forward();
  const events = () => server.as('test_secret').get('/v1/events?deviceId=860000000000001');
  await until(async () => ok(await events()).events.length >= entered.length);
  expect(ok(await events()).events).toHaveLength(entered.length);
});
