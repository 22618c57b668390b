/** Geofences take the new geometry of their place, whatever happens meanwhile. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { embeddedLeases } from '../../backends/embedded/leases.js';
import { PortError } from '../../pipeline/errors.js';
import { createHeldLeases } from '../../pipeline/held-lease.js';
import { createSweeperLeases, leasesOfOnlyNode } from '../../pipeline/sweeper.js';
import { refusal } from '../../providers/answer.js';
import type { IsochroneProvider } from '../../providers/isochrones/provider.js';
import { type Body, useApi } from '../testing/fixtures.js';
import { createPlaceFollower, type PlaceFollowerParts } from './follower.js';

let isDown = false;
const isochrones: IsochroneProvider = async ({ center: [x, y] }) =>
  isDown
    ? refusal('unavailable', 'the router does not answer')
    : {
        ok: true,
        value: {
          ring: [
            [x - 1, y - 1],
            [x + 1, y - 1],
            [x, y + 1],
            [x - 1, y - 1],
          ],
          source: { provider: 'triangles', providerVersion: null, roadDataAt: null, computedAt: 1 },
        },
      };
const api = await useApi({ geometrySources: { isochrones } });

const point = (longitude: number, latitude: number) => ({ type: 'Point', coordinates: [longitude, latitude] });
const square = (x: number, y: number) => ({
  type: 'Polygon',
  coordinates: [
    [
      [x, y],
      [x + 0.01, y],
      [x + 0.01, y + 0.01],
      [x, y],
    ],
  ],
});
const putPlace = (id: string, geometry: object, name = 'A place') =>
  api.call('PUT', `/v1/places/${id}`, { body: { name, geometry } });
const putFence = async (id: string, fields: object): Promise<Body> =>
  (
    await api.call('PUT', `/v1/geofences/follow/${id}`, {
      body: { description: 'x', type: 'circle', radius: 100, ...fields },
    })
  ).body.geofence;
const fenceOf = async (id: string): Promise<Body> =>
  (await api.call('GET', `/v1/geofences/follow/${id}`)).body.geofence;

function startFollower(parts: Partial<PlaceFollowerParts> = {}) {
  const follower = createPlaceFollower({
    readModel: api.readModel,
    writer: api.writer,
    takeLease: leasesOfOnlyNode,
    leases: embeddedLeases,
    sources: { isochrones },
    onProblem: () => {},
    intervalMs: 5,
    ...parts,
  });
  follower.start();
  onTestFinished(() => follower.stop());
  return follower;
}

/** Resolves when no geofence is behind its place. */
const followed = () => vi.waitFor(() => expect(api.readModel.outdatedGeofences(1)).toEqual([]), { timeout: 60_000 });

test('a circle moves with its point, and becomes the polygon of its place and a circle again', async () => {
  await putPlace('p1', point(1, 1));
  const before = await putFence('1', { placeId: 'p1', metadata: { kept: true } });
  startFollower();
  await putPlace('p1', point(2, 2));
  await followed();
  expect(await fenceOf('1')).toMatchObject({
    _id: before._id,
    createdAt: before.createdAt,
    type: 'circle',
    geometryCenter: point(2, 2),
    geometryRadius: 100,
    metadata: { kept: true },
  });
  await putPlace('p1', square(3, 3));
  await followed();
  expect(await fenceOf('1')).toMatchObject({ type: 'polygon', geometry: square(3, 3), placeId: 'p1' });
  await putPlace('p1', point(4, 4));
  await followed();
  expect(await fenceOf('1')).toMatchObject({ type: 'circle', geometryCenter: point(4, 4), geometryRadius: 100 });
});

test('a polygon keeps its area when its place becomes a point', async () => {
  await putPlace('p2', square(5, 5));
  await putFence('2', { type: 'polygon', radius: '', placeId: 'p2' });
  startFollower();
  await putPlace('p2', point(6, 6));
  await followed();
  expect(await fenceOf('2')).toMatchObject({ type: 'polygon', geometry: square(5, 5) });
  await putPlace('p2', square(7, 7));
  await followed();
  expect((await fenceOf('2')).geometry).toEqual(square(7, 7));
});

// Every edit of such a geofence was refused, so nobody could disable it but by a bulk change.
test('regression: a polygon whose place became a point can be edited, and keeps its area', async () => {
  await putPlace('p10', square(5, 5));
  await putFence('10', { type: 'polygon', radius: '', placeId: 'p10' });
  startFollower();
  await putPlace('p10', point(6, 6));
  await followed();
  const kept = { type: 'polygon', geometry: square(5, 5), placeId: 'p10' };
  const { status, body } = await api.call('PATCH', '/v1/geofences/follow/10', { body: { enabled: false } });
  expect({ status, geofence: body.geofence }).toMatchObject({ status: 200, geofence: { ...kept, enabled: false } });
  expect(await putFence('10', { type: 'polygon', radius: '', placeId: 'p10', description: 'Again' })).toMatchObject({
    ...kept,
    enabled: true,
    description: 'Again',
  });
  await putPlace('p10', square(7, 7));
  await followed();
  expect((await fenceOf('10')).geometry).toEqual(square(7, 7));
});

test('a geofence takes the geometry of a place that the catalogue gets later', async () => {
  startFollower();
  await putFence('11', { placeId: 'p11', coordinates: [1, 1] });
  const isochrone = { type: 'isochrone', radius: 10, mode: 'foot', placeId: 'p11', coordinates: [1, 1] };
  expect((await putFence('12', isochrone)).geometry.coordinates[0][0]).toEqual([0, 0]);
  await putPlace('p11', point(2, 2));
  await followed();
  const fence = await fenceOf('11');
  expect(fence).toMatchObject({ type: 'circle', geometryCenter: point(2, 2), geometryRadius: 100, placeId: 'p11' });
  expect(fence).not.toHaveProperty('geometrySource');
  expect((await fenceOf('12')).geometry.coordinates[0][0]).toEqual([1, 1]);
});

describe('an isochrone', () => {
  test('is computed again about the centre of its place', async () => {
    await putPlace('p3', point(10, 10));
    await putFence('3', { type: 'isochrone', radius: 10, mode: 'foot', placeId: 'p3' });
    startFollower();
    await putPlace('p3', point(20, 20));
    await followed();
    const fence = await fenceOf('3');
    expect(fence).toMatchObject({ type: 'isochrone', geometryCenter: point(20, 20), geometryRadius: 10, mode: 'foot' });
    expect(fence.geometry.coordinates[0][0]).toEqual([19, 19]);
  });

  test('keeps its area while the provider is down, hinders no other geofence, and follows afterwards', async () => {
    await putPlace('p4', point(10, 10));
    await putFence('4', { type: 'isochrone', radius: 10, mode: 'foot', placeId: 'p4' });
    const other = await putFence('5', { placeId: 'p4' });
    let nowMs = 0;
    const problems: unknown[] = [];
    isDown = true;
    startFollower({ clock: () => nowMs, onProblem: (problem) => problems.push(problem) });
    await putPlace('p4', point(30, 30));
    await vi.waitFor(async () => expect((await fenceOf('5')).geometryCenter).toEqual(point(30, 30)), {
      timeout: 60_000,
    });
    await vi.waitFor(() => expect(problems).toHaveLength(1), { timeout: 60_000 });
    expect(api.readModel.outdatedGeofences(10)).not.toContain(other._id);
    expect(await fenceOf('4')).toMatchObject({ geometryCenter: point(10, 10) });
    isDown = false;
    nowMs = 5_000;
    await followed();
    expect(await fenceOf('4')).toMatchObject({ geometryCenter: point(30, 30) });
    expect(problems).toHaveLength(1);
  });
});

// The lease of a pass was a second, and a pass may compute isochrones for minutes: each node computed them all.
test('regression: an isochrone is computed on one node, however long that takes', async () => {
  await putPlace('p8', point(1, 1));
  await putFence('8', { type: 'isochrone', radius: 10, mode: 'foot', placeId: 'p8' });
  let attempts = 0;
  const take = createSweeperLeases(createHeldLeases(api.values));
  const takeLease: PlaceFollowerParts['takeLease'] = (name, closing) => {
    attempts += 1;
    return take(name, closing);
  };
  let computed = 0;
  const slow: IsochroneProvider = async (request) => {
    computed += 1;
    const before = attempts;
    await vi.waitFor(() => expect(attempts).toBeGreaterThan(before + 3), { timeout: 60_000 });
    return isochrones(request);
  };
  for (let node = 0; node < 2; node++) startFollower({ takeLease, sources: { isochrones: slow } });
  await putPlace('p8', point(2, 2));
  await followed();
  expect(computed).toBe(1);
});

// A full queue of the log ended the process.
test('regression: a place is followed after the log was overloaded', async () => {
  await putPlace('p9', point(1, 1));
  await putFence('9', { placeId: 'p9' });
  let refusals = 0;
  const writer: PlaceFollowerParts['writer'] = Object.create(api.writer, {
    write: {
      value: async (changes: Parameters<typeof api.writer.write>[0]) => {
        if (refusals++ === 0) throw new PortError('overloaded', 'too many bytes are in flight to the log');
        return api.writer.write(changes);
      },
    },
  });
  startFollower({ writer });
  await putPlace('p9', point(2, 2));
  await followed();
  expect((await fenceOf('9')).geometryCenter).toEqual(point(2, 2));
  expect(refusals).toBe(2);
});

test('an edit of the name alone changes no geofence', async () => {
  await putPlace('p6', point(1, 1));
  const before = await putFence('6', { placeId: 'p6' });
  await putPlace('p6', point(1, 1), 'Other');
  expect(api.readModel.outdatedGeofences(1)).toEqual([]);
  expect(await fenceOf('6')).toEqual(before);
});

test('two followers and an owner at once end with what the owner and the place say last', async () => {
  await putPlace('p7', point(1, 1));
  const fences = Array.from({ length: 20 }, (_, index) => `7-${index}`);
  for (const id of fences) await putFence(id, { placeId: 'p7' });
  startFollower();
  startFollower();
  for (let step = 0; step < 5; step++) {
    await Promise.all([
      putPlace('p7', point(40 + step, 40)),
      ...fences.map((id, index) =>
        putFence(id, index % 2 === 0 ? { placeId: 'p7', description: `${step}` } : { coordinates: [step, 0] }),
      ),
    ]);
  }
  await followed();
  for (const [index, id] of fences.entries()) {
    const { description, geometryCenter } = await fenceOf(id);
    if (index % 2 === 0)
      expect({ description, geometryCenter }).toEqual({ description: '4', geometryCenter: point(44, 40) });
    else expect(geometryCenter).toEqual(point(4, 0));
  }
});
