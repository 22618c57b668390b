/**
 * The embedded Valhalla on the roads of a real city. Valhalla runs in the process of the test; the black-box tests run
 * it in a process of its own.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { contains } from '../../pipeline/geometry/containment.js';
import { ringOf } from '../../pipeline/geometry/edges.js';
import { normalizeRing, unwrapRing } from '../../pipeline/geometry/ring.js';
import { distance } from '../../pipeline/geometry/scale.js';
import type { Position } from '../../schemas/json/common.js';
import { maxRingPoints, type TravelMode, travelModes } from '../../schemas/json/constants.js';
import { gothenburg, roadsOfGothenburg, writeExtract } from '../../testing/roads/gothenburg.js';
import { until } from '../../testing/until.js';
import { ringOfBounds } from '../roads/boundary.js';
import { createRoadProvider } from '../roads/provider.js';
import { openActor } from './actor.js';
import { buildRoadData } from './build.js';
import type { ValhallaProcess } from './child.js';
import { createEmbeddedValhalla } from './embedded.js';
import { isInstalled } from './package.js';
import { readExtractHeader } from './pbf-header.js';
import { followRoadData } from './road-data.js';

const isServed = ['linux x64', 'linux arm64', 'darwin arm64'].includes(`${process.platform} ${process.arch}`);
const now = Date.UTC(2026, 0, 2);
const folder = mkdtempSync(join(tmpdir(), 'fenceline-roads-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// A missing package must not leave these tests out without notice.
test.runIf(isServed)('the optional package is installed on this platform', () => expect(isInstalled()).toBe(true));
if (!isServed) test.skip(`Valhalla is NOT tested: no package serves ${process.platform} ${process.arch}`, () => {});

const inThisProcess = (): ValhallaProcess => {
  const actors = new Map<string, ReturnType<typeof openActor>>();
  return {
    async ask(tilesFolder, action, request) {
      const actor = actors.get(tilesFolder) ?? openActor(tilesFolder);
      actors.set(tilesFolder, actor);
      return { ok: true, value: await (await actor)(action, request) };
    },
    close: async () => {},
  };
};

describe.runIf(isServed)('on the roads of Gothenburg', async () => {
  const roads = roadsOfGothenburg();
  const file = join(folder, 'gothenburg.osm.pbf');
  const built = join(folder, 'built');
  writeExtract(file, roads, gothenburg);
  const boundary = [ringOfBounds(gothenburg.bounds)];
  const { signal } = new AbortController();
  const request = { file, folder: built, boundary, roadDataAt: gothenburg.dataAt, nowMs: now, signal };
  const result = await buildRoadData(request);
  const engine = createEmbeddedValhalla(built, inThisProcess());
  const limits = { maxConcurrency: 2, maxWaitingPerProject: 10, timeoutMs: 600_000 };
  const { isochrones, routes } = createRoadProvider(engine, limits, () => now);
  const about = (mode: TravelMode, minutes: number, center = gothenburg.center) =>
    isochrones({ project: 'p', center, minutes, mode });
  /** Knows no edge of the data, so that larger areas can be looked at. */
  const unbounded = createRoadProvider(
    { ...engine, state: async () => ({ ok: true, value: { version: null, roadDataAt: null, boundary: undefined } }) },
    limits,
    () => now,
  );
  const travel = { project: 'p', avoid: [] };

  test('the extract is built', () => expect(result).toEqual({ ok: true }));

  describe('an isochrone is a valid ring about the destination', () => {
    const cases = travelModes.flatMap((mode) => [1, 2, 3].map((minutes) => [mode, minutes] as const));
    test.each(cases)('%s, %d minutes', async (mode, minutes) => {
      const answer = await about(mode, minutes);
      if (!answer.ok) throw answer.error;
      const { ring, source } = answer.value;
      expect(normalizeRing(ring).ok).toBe(true);
      expect(ring.length).toBeLessThanOrEqual(maxRingPoints);
      expect(contains(ringOf(unwrapRing(ring)), ...gothenburg.center)).toBe(true);
      expect(source).toEqual({
        provider: 'embedded',
        providerVersion: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        roadDataAt: gothenburg.dataAt,
        computedAt: now,
      });
    });
  });

  test.each([
    ['of 60 minutes, beyond the data', 60, gothenburg.center, 'radius'],
    ['near the edge', 2, [11.904, 57.7], 'radius'],
    ['outside the data', 5, [11.8, 57.7], 'coordinates'],
    ['on another continent', 5, [-73.97, 40.78], 'coordinates'],
  ] as [string, number, Position, string][])('an isochrone %s is refused', async (_, minutes, center, param) => {
    const answer = await about('car', minutes, center);
    expect(answer).toMatchObject({ ok: false, error: { code: 'outside_road_data', param } });
  });

  test('an isochrone without a road nearby is refused, also if the edge of the data is not known', async () => {
    const answer = await unbounded.isochrones({ project: 'p', center: [11.8, 57.7], minutes: 5, mode: 'car' });
    expect(answer).toMatchObject({ ok: false, error: { code: 'outside_road_data', param: 'coordinates' } });
  });

  describe('routes', () => {
    const [a, b]: [Position, Position] = [gothenburg.center, [11.985, 57.708]];
    const nowhere: Position = [11.8, 57.6];

    test('follow roads, which are longer than the straight line, and end at their ends', async () => {
      const answer = await routes.route({ ...travel, mode: 'car', origin: a, destination: b });
      if (!answer.ok || answer.value === null) throw new Error('no route');
      const { path, distanceM, durationS } = answer.value;
      const lengthM = path.slice(1).reduce((sum, [x, y], index) => sum + distance(...path[index]!, x, y), 0);
      expect(Math.abs(lengthM - distanceM)).toBeLessThan(0.01 * distanceM);
      expect(distanceM).toBeGreaterThan(distance(...a, ...b));
      expect(distance(...path[0]!, ...a)).toBeLessThan(500);
      expect(distance(...path.at(-1)!, ...b)).toBeLessThan(500);
      expect(distanceM / durationS).toBeLessThan(40);
    });

    test('on foot take longer than by bike', async () => {
      const durations = await Promise.all(
        (['foot', 'bike'] as const).map(async (mode) => {
          const answer = await routes.route({ ...travel, mode, origin: a, destination: b });
          return answer.ok && answer.value ? answer.value.durationS : 0;
        }),
      );
      expect(durations[0]).toBeGreaterThan(durations[1]!);
    });

    test('to a place without roads do not exist, alone and in a matrix with others', async () => {
      expect(await routes.route({ ...travel, mode: 'car', origin: a, destination: nowhere })).toEqual({
        ok: true,
        value: null,
      });
      const matrix = await routes.matrix({ ...travel, mode: 'car', origins: [nowhere, a], destinations: [b, nowhere] });
      const leg = { distanceM: expect.any(Number), durationS: expect.any(Number) };
      expect(matrix).toEqual({
        ok: true,
        value: [
          [null, null],
          [leg, null],
        ],
      });
    });

    test('between continents are refused', async () => {
      const answer = await routes.route({ ...travel, mode: 'foot', origin: a, destination: [-73.97, 40.78] });
      expect(answer.ok ? answer.value : answer.error.code).toBeOneOf([null, 'invalid_parameter']);
    });
  });

  describe('the times of an isochrone are to the point, as the matrix says', () => {
    /** Crossings and bends of streets for cars, which all modes may use, spread over the city. */
    const allPlaces = roads
      .filter(({ tags }) => /^(primary|secondary|tertiary|residential)$/.test(tags.highway ?? ''))
      .flatMap(({ path }) => path);

    async function minutesBetween(mode: TravelMode, origins: readonly Position[], destinations: readonly Position[]) {
      const matrix = await routes.matrix({ ...travel, mode, origins, destinations });
      if (!matrix.ok) throw matrix.error;
      return matrix.value.flat().map((leg) => (leg === null ? Number.NaN : leg.durationS / 60));
    }

    test.each([
      ['car', 4, 120],
      ['bike', 8, 60],
    ] as const)('%s, %d minutes', async (mode, minutes, stride) => {
      const places = allPlaces.filter((_, index) => index % stride === 0);
      const answer = await unbounded.isochrones({ project: 'p', center: gothenburg.center, minutes, mode });
      if (!answer.ok) throw answer.error;
      const ring = ringOf(unwrapRing(answer.value.ring));
      const isInside = places.map(([x, y]) => contains(ring, x, y));
      const to = await minutesBetween(mode, places, [gothenburg.center]);
      const from = await minutesBetween(mode, [gothenburg.center], places);
      const known = places.flatMap((_, index) =>
        Number.isNaN(to[index]!) || Number.isNaN(from[index]!) ? [] : [index],
      );
      const agreement = (indices: readonly number[], times: readonly number[]) =>
        indices.filter((index) => isInside[index] === times[index]! <= minutes).length / indices.length;
      expect(known.length).toBeGreaterThan(100);
      expect(agreement(known, to)).toBeGreaterThan(0.92);
      expect(agreement(known, to)).toBeGreaterThan(agreement(known, from) + 0.005);
      // Where the way there and the way back differ, the way to the point decides.
      const different = known.filter(
        (index) =>
          to[index]! < minutes !== from[index]! < minutes && Math.abs(to[index]! - from[index]!) > 0.1 * minutes,
      );
      expect(different.length).toBeGreaterThan(0);
      expect(agreement(different, to)).toBeGreaterThan(0.5);
    });
  });

  test('a build replaces the data at once, and the data before stays for who reads it', async () => {
    const current = followRoadData(built);
    const before = (await current())!;
    const small = join(folder, 'small.osm.pbf');
    writeExtract(small, roads.slice(0, 300), {});
    expect(await buildRoadData({ ...request, file: small, roadDataAt: now })).toEqual({ ok: true });
    const after = (await current())!;
    expect(after).toMatchObject({ roadDataAt: now, source: 'small.osm.pbf', builtAt: now });
    const kept = [before.tiles, after.tiles, 'current.json'];
    expect(readdirSync(built).sort()).toEqual(kept.sort());
  });

  test('an interrupted build ends its program and removes its folder', async () => {
    const interrupted = new AbortController();
    const building = (): string[] => readdirSync(built).filter((name) => name.startsWith('building-'));
    const outcome = buildRoadData({ ...request, signal: interrupted.signal }).catch((error: Error) => error);
    await until(() => building().length > 0, { pollEveryMs: 1 });
    const reason = new Error('interrupted');
    interrupted.abort(reason);
    expect(await outcome).toBe(reason);
    expect(building()).toEqual([]);
  });

  test('a failed build keeps the data', async () => {
    const current = followRoadData(built);
    const before = await current();
    const broken = join(folder, 'broken.osm.pbf');
    writeFileSync(broken, readFileSync(file).subarray(0, 2_000));
    expect(await buildRoadData({ ...request, file: broken })).toMatchObject({ ok: false });
    const empty = join(folder, 'empty.osm.pbf');
    writeExtract(empty, [], {});
    expect(await buildRoadData({ ...request, file: empty })).toMatchObject({ ok: false });
    expect(await current()).toEqual(before);
    expect(readdirSync(built).filter((name) => name.startsWith('building-'))).toEqual([]);
  });
});

describe('the header of an extract', () => {
  const file = join(folder, 'header.osm.pbf');

  test('has bounds and date', async () => {
    writeExtract(file, [], gothenburg);
    expect(await readExtractHeader(file)).toEqual({
      bounds: gothenburg.bounds,
      dataAt: gothenburg.dataAt - (gothenburg.dataAt % 1_000),
    });
  });

  test('may lack them', async () => {
    writeExtract(file, [], {});
    expect(await readExtractHeader(file)).toEqual({ bounds: null, dataAt: null });
  });

  test.each([
    ['text', 'OSMHeader but not really'],
    ['nothing', ''],
    ['a long length', Buffer.alloc(100, 255)],
  ])('is not that of %s', async (_, content) => {
    writeFileSync(file, content);
    expect(await readExtractHeader(file)).toBeUndefined();
  });
});

test('without road data the answer names what to do', async () => {
  const engine = createEmbeddedValhalla(join(folder, 'nothing'), inThisProcess());
  expect(await engine.state()).toMatchObject({ ok: false, error: { code: 'not_available' } });
});
