/**
 * One key cannot block the maps of others. Independent testing found that 3,700 markers, 1,000 fitted geofences or an
 * icon of 3 kB occupied a drawing process for 8 to 14 s. Six such requests delayed another project's maps by 32 s, and
 * one connection was dropped.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { childProcesses } from '../support/child-processes.js';
import { type Json, ok } from '../support/client.js';
import { askMap, type MapQuery, pictureOf, startMapServer } from '../support/maps.js';
import type { TestServer } from '../support/server.js';

const nestedUse = (levels: number): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60"><defs><g id="a0"><rect width="9" height="9"/></g>${Array.from(
    { length: levels },
    (_, level) => `<g id="a${level + 1}">${`<use href="#a${level}"/>`.repeat(10)}</g>`,
  ).join('')}</defs><use href="#a${levels}"/></svg>`;
const badIcon = nestedUse(5);
/** Just within every bound that is counted. */
const heavyIcon = nestedUse(3);
const goodIcon =
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40" fill="#f0f"/></svg>';

let server: TestServer;
let icons: Server;
let iconOrigin: string;
/** The publishable key of a separate project. */
let otherKey: string;

beforeAll(async () => {
  icons = createServer((request, response) => {
    const body = request.url?.startsWith('/bad') ? badIcon : request.url?.startsWith('/heavy') ? heavyIcon : goodIcon;
    response.end(`${body}<!-- ${request.url} -->`);
  });
  await new Promise<void>((resolve) => icons.listen(0, '127.0.0.1', resolve));
  iconOrigin = `http://127.0.0.1:${(icons.address() as AddressInfo).port}`;
  server = await startMapServer({
    FENCELINE_MAPS_ALLOWED_NETWORKS: '127.0.0.1',
    FENCELINE_MAPS_WORKERS: '2',
    FENCELINE_LIMITS_MAP_COST_PER_KEY_PER_SECOND: '0',
    FENCELINE_LIMITS_MANAGEMENT_PER_KEY_PER_SECOND: '0',
  });
  const { project } = ok(await (await server.administrator()).post('/v1/projects', { name: 'Other' }));
  otherKey = project.keys.find(({ environment, kind }: Json) => environment === 'test' && kind === 'publishable').key;
});
afterAll(async () => {
  icons?.close();
  await server?.dispose();
});

const large = { width: '2048', height: '2048', scale: '3' };
const size = { width: '300', height: '200' };
let asked = 0;
/** Returns a position that no other map shows, so that no map is cached. */
const fresh = (): string => `${(((asked++ * 7.31) % 120) - 60).toFixed(4)},${((asked * 13.7) % 360) - 180}`;
const spread = (count: number): string => Array.from({ length: count }, fresh).join('|');
/** Returns groups of four markers. Each has a colour of its own, because pins of one colour are drawn once. */
const colorful = (groups: number): string[] =>
  Array.from({ length: groups }, () => `color:0x${asked.toString(16).padStart(6, '0')}|${spread(4)}`);

const ask = (query: MapQuery, headers: Record<string, string> = {}) => askMap(server, query, { headers });

describe('a small icon that takes seconds to draw', () => {
  it('is refused by URL at once, with its name and the rule', async () => {
    const query = { ...size, markers: `icon:${iconOrigin}/bad-by-url|0,0` };
    for (const _ of [1, 2]) {
      const answer = await ask(query);
      const { meta }: Json = await answer.json();
      expect([answer.status, meta.param]).toEqual([400, 'markers']);
      expect(meta.message).toContain(`the icon ${iconOrigin}/bad-by-url must take at most 20000 drawing steps`);
    }
  });

  it('is refused at upload', async () => {
    const sending = { body: badIcon, headers: { 'content-type': 'image/svg+xml' } };
    const answer = await server.as('test_secret').send('POST', '/v1/map-markers', sending);
    expect([answer.status, answer.body.meta.param]).toEqual([400, 'image']);
    expect(answer.body.meta.message).toContain('must take at most 20000 drawing steps');
  });
});

/**
 * Requests small maps of the other project, one after the other. All must be drawn. Returns by how much a count grew
 * while each of them waited.
 */
async function drawOfOther(times: number, count: () => number = () => 0): Promise<number[]> {
  const grown: number[] = [];
  for (let i = 0; i < times; i++) {
    const before = count();
    const answer = await ask({ ...size, center: fresh(), zoom: '5' }, { authorization: otherKey });
    grown.push(count() - before);
    await pictureOf(answer);
  }
  return grown;
}

const connectionsOfAbuser = 6;

/**
 * Maximum median number of maps of the abusive key that are drawn while one of the other project waits. Projects share
 * processor time, so several cheap maps may be drawn in the time of an expensive one. The exact rule is tested in
 * `renderer/pool/fair-queue.test.ts`.
 */
const maxDrawnBefore = 2 * connectionsOfAbuser;

const median = (counts: readonly number[]): number => [...counts].sort((a, b) => a - b)[counts.length >> 1]!;

describe('requests of an abusive key do not delay the maps of another project', () => {
  beforeAll(async () => {
    const client = server.as('test_secret');
    const fences = Array.from({ length: 1_000 }, (_, index) => index);
    for (let start = 0; start < fences.length; start += 50) {
      await Promise.all(
        fences.slice(start, start + 50).map((index) => {
          const coordinates = [((index * 0.35) % 340) - 170, ((index * 0.11) % 120) - 60];
          return client.putGeofence(`${index}`, { type: 'circle', coordinates, radius: 10_000 }, 'many');
        }),
      );
    }
  });

  it.each<[string, () => readonly [MapQuery, boolean]]>([
    ['markers', () => [{ ...size, markers: colorful(100) }, false]],
    ['fitted geofences', () => [{ ...size, width: `${300 + (asked++ % 200)}`, geofences: 'many' }, true]],
    ['icons of nested use', () => [{ ...size, markers: `icon:${iconOrigin}/bad${asked++}|${fresh()}` }, false]],
    ['heavy icons', () => [{ ...size, markers: `icon:${iconOrigin}/heavy${asked++}|${fresh()}` }, false]],
    ['the largest maps', () => [{ ...large, center: fresh(), zoom: '4' }, false]],
  ])('%s', async (_, abuse) => {
    await drawOfOther(2);
    let [isOver, answered, drawn] = [false, 0, 0];
    const abusers = Array.from({ length: connectionsOfAbuser }, async () => {
      while (!isOver) {
        const [query, isSecret] = abuse();
        const answer = await ask(query, isSecret ? { authorization: server.keys.test_secret } : {});
        await answer.arrayBuffer();
        expect([200, 400, 503]).toContain(answer.status);
        answered += 1;
        if (answer.status === 200) drawn += 1;
        if (answer.status === 503) await delay(100);
      }
    });
    // By then the first of them are being drawn.
    await drawOfOther(2);
    const drawnBefore = await drawOfOther(15, () => drawn);
    isOver = true;
    await Promise.all(abusers);
    expect(median(drawnBefore)).toBeLessThanOrEqual(maxDrawnBefore);
    expect(answered).toBeGreaterThan(0);
  });
});

/** Returns the ids of the server's drawing processes. */
const drawingProcesses = (): number[] => childProcesses(server.process.pid, 'drawing-process');

it('every request is answered while drawing processes die', async () => {
  const answers = Array.from({ length: 12 }, () => ask({ ...size, center: fresh(), zoom: '5' }));
  let isOver = false;
  const all = Promise.all(answers).finally(() => {
    isOver = true;
  });
  let killed = 0;
  while (!isOver && killed < 3) {
    const [pid] = drawingProcesses();
    if (pid !== undefined) {
      process.kill(pid, 'SIGKILL');
      killed += 1;
    }
    await delay(300);
  }
  const statuses = (await all).map(({ status }) => status);
  expect(killed).toBeGreaterThan(0);
  expect(statuses.filter((status) => ![200, 500, 503].includes(status))).toEqual([]);
  await pictureOf(await ask({ ...size, center: fresh(), zoom: '5' }));
});

/** Requests a map with minimal escaping, to fit as much as possible into the URL. */
function askUnescaped(query: MapQuery, headers: Record<string, string>): Promise<Response> {
  const pairs = Object.entries(query).flatMap(([name, values]) => [values].flat().map((value) => `${name}=${value}`));
  return fetch(`${server.address}/maps/static?${pairs.join('&')}&publishableKey=${server.keys.test_publishable}`, {
    headers,
  });
}

describe('every documented limit can be drawn', () => {
  const encoded = (count: number): string => {
    const number = (value: number): string => {
      let rest = value < 0 ? -2 * value - 1 : 2 * value;
      let text = '';
      for (; rest >= 32; rest = Math.floor(rest / 32)) text += String.fromCharCode((32 | (rest % 32)) + 63);
      return text + String.fromCharCode(rest + 63);
    };
    const steps = Array.from({ length: count }, (_, index) => number(index % 2 ? 3 : -3) + number(index % 3 ? 2 : -4));
    return `enc:${steps.join('')}`;
  };

  it.each<[string, () => MapQuery, boolean?]>([
    ['the largest image', () => ({ ...large, center: fresh(), zoom: '4' })],
    ['the largest image as WebP', () => ({ ...large, center: fresh(), zoom: '3', format: 'webp' })],
    ['the longest path that a URL holds', () => ({ ...large, path: `width:100|borderWidth:100|${encoded(4_500)}` })],
    [
      'the markers that a URL holds',
      () => ({ ...large, markers: Array.from({ length: 3_700 }, (_, i) => `${i % 9},${i % 7}`).join('|') }),
    ],
    ['a thousand fitted geofences', () => ({ ...large, geofences: 'many' }), true],
    [
      'twenty different icons',
      () => ({ ...size, markers: Array.from({ length: 20 }, (_, i) => `icon:${iconOrigin}/good${i}|${i},${i}`) }),
    ],
    [
      'a hundred paths and markers',
      () => ({ ...size, path: Array(100).fill('1,2|3,4'), markers: Array(100).fill('1,2') }),
    ],
  ])('%s', async (name, query, isSecret) => {
    const startedAt = performance.now();
    const answer = await askUnescaped(query(), isSecret ? { authorization: server.keys.test_secret } : {});
    const bytes = Buffer.from(await answer.arrayBuffer());
    console.log(`${name}: ${(performance.now() - startedAt).toFixed(0)} ms, ${bytes.length} bytes`);
    expect(answer.status, bytes.subarray(0, 300).toString()).toBe(200);
    expect((await sharp(bytes).metadata()).width).toBeGreaterThanOrEqual(300);
  });
});
