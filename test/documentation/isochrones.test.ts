/** Runs the commands of docs/isochrones.md on the roads of a real city, with the embedded router in its own process. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { gothenburg, roadsOfGothenburg, writeExtract } from '../../testing/roads/gothenburg.js';
import { childProcesses } from '../support/child-processes.js';
import type { Json } from '../support/client.js';
import { program } from '../support/program.js';
import { TestServer } from '../support/server.js';

const guide = readFileSync(new URL('../../docs/isochrones.md', import.meta.url), 'utf8');
const blocks = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text]) => text as string);
const [building, creation, looking, routing] = blocks as [string, string, string, string];
const [longitude, latitude] = gothenburg.center;

let server: TestServer;
let folder: string;
beforeAll(async () => {
  server = await TestServer.start({});
  folder = join(server.dataFolder, 'extracts');
  mkdirSync(folder);
  writeExtract(join(folder, 'region.osm.pbf'), roadsOfGothenburg(), gothenburg);
});
afterAll(() => server.dispose());

/** Returns what the commands print. */
async function run(commands: string): Promise<string> {
  const script = `fenceline() { "${process.execPath}" "${program}" "$@"; }\n${commands}`;
  const env = {
    ...process.env,
    FENCELINE_DATA: server.dataFolder,
    FENCELINE: server.address,
    SK: server.keys.test_secret,
    PK: server.keys.test_publishable,
  };
  const bash = ['-ec', script.replaceAll('curl ', 'curl -sS ')];
  return (await promisify(execFile)('bash', bash, { cwd: folder, env })).stdout;
}

/** Returns the ids of the router's processes. */
const routers = (): number[] => childProcesses(server.process.pid, 'valhalla/process');

it('an isochrone without road data is not available, and the answer names the command', async () => {
  const { meta } = JSON.parse(await run(creation));
  expect(meta).toMatchObject({ code: 400, type: 'not_available', param: 'type' });
  expect(meta.message).toContain('fenceline roads build');
  expect(JSON.parse((await run(routing)).split(/(?<=\})(?=\{)/)[0]!).meta.type).toBe('not_available');
});

it('the commands build road data while the server runs, create an isochrone and calculate routes', async () => {
  expect(await run(building)).toMatch(/^builds road data of region\.osm\.pbf of 2016-12-27\ndone in /);
  const { geofence } = JSON.parse(await run(creation));
  expect(geofence).toMatchObject({
    type: 'isochrone',
    mode: 'car',
    geometryRadius: 3,
    geometrySource: { isochrone: { provider: 'embedded', roadDataAt: new Date(gothenburg.dataAt).toISOString() } },
  });
  expect(JSON.parse(await run(looking)).isochrone).toMatchObject({
    geometry: geofence.geometry,
    source: { provider: 'embedded' },
  });
  const [routes, matrix] = (await run(routing)).split(/(?<=\})(?=\{)/).map((text) => JSON.parse(text)) as [Json, Json];
  expect(Object.keys(routes.routes)).toEqual(['geodesic', 'car', 'foot']);
  expect(routes.routes.foot.duration.value).toBeGreaterThan(routes.routes.car.duration.value);
  expect(matrix.matrix).toHaveLength(2);
  expect(matrix.matrix[0][0]).toMatchObject({ originIndex: 0, destinationIndex: 0, distance: { text: /km/ } });
});

it('an isochrone is a polygon for evaluation, search, explain and maps', async () => {
  const device = { deviceId: 'car', accuracy: 5, foreground: true };
  const client = server.as('test_publishable');
  const away = await client.track({ ...device, latitude: 57.66, longitude: 11.91 });
  expect(away.events).toEqual([]);
  const { events } = await client.track({ ...device, latitude: latitude + 0.001, longitude });
  expect(events).toMatchObject([
    { type: 'user.entered_geofence', geofence: { type: 'isochrone', externalId: 'reach' } },
  ]);
  const { body } = await client.get(`/v1/search/geofences?near=${latitude},${longitude}`);
  expect(body.geofences).toMatchObject([{ type: 'isochrone', geometryRadius: 3 }]);
  const explained = await server
    .as('test_secret')
    .post('/v1/explain', { deviceId: 'other', latitude, longitude, accuracy: 5, foreground: true });
  expect(explained.status).toBe(200);
  expect(JSON.stringify(explained.body)).toContain('reach');
});

it('requests are answered again after the router was killed', async () => {
  const [router] = routers();
  expect(router).toBeDefined();
  process.kill(router!, 'SIGKILL');
  await expect.poll(async () => JSON.parse((await run(routing)).split(/(?<=\})(?=\{)/)[0]!).meta.code).toBe(200);
  expect(routers()).not.toContain(router);
});
