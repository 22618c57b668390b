/**
 * What the web SDK and the dashboard ask of data that an operator adds: distances, matrices and travel times on the
 * roads of a real city, and the place of an IP address.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { londonEntry, mmdbFile } from '../../providers/geocoding/testing/mmdb.js';
import { gothenburg, roadsOfGothenburg, writeExtract } from '../../testing/roads/gothenburg.js';
import { type Json, ok } from '../support/client.js';
import { program } from '../support/program.js';
import { TestServer } from '../support/server.js';
import { closePages, hasBrowser, openPage, patientSdk, serveWebPage, sharedBrowser, type WebPage } from './browser.js';

const isRunnable = hasBrowser();
const [longitude, latitude] = gothenburg.center;
const origin = { latitude, longitude };
const destination = { latitude: latitude + 0.004, longitude: longitude + 0.004 };

let server: TestServer;
let browser: Browser;
let web: WebPage;
let page: Page;
const folder = mkdtempSync(join(tmpdir(), 'fenceline-roads-'));

beforeAll(async () => {
  if (!isRunnable) return;
  const ipDatabase = join(folder, 'city.mmdb');
  writeFileSync(ipDatabase, mmdbFile({ '127.0.0.0/8': londonEntry }));
  const settings = { FENCELINE_GEOCODING_IP_DATABASE: ipDatabase };
  [browser, web, server] = await Promise.all([sharedBrowser(), serveWebPage(), TestServer.start(settings)]);
  const extract = join(folder, 'region.osm.pbf');
  writeExtract(extract, roadsOfGothenburg(), gothenburg);
  const env = { ...process.env, FENCELINE_DATA: server.dataFolder };
  await promisify(execFile)(process.execPath, [program, 'roads', 'build', extract], { env });
  page = await openPage(browser);
  await page.goto(web.origin);
  await page.waitForFunction(() => 'Radar' in globalThis);
  await radar('initialize', server.keys.test_publishable, { host: server.address, ...patientSdk });
});

afterAll(async () => {
  await closePages();
  web?.close();
  await server?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const radar = (method: string, ...args: unknown[]): Promise<Json> =>
  page.evaluate(
    async ({ method, args }) => {
      const answer = await (globalThis as Json).Radar[method](...args);
      return answer === undefined ? null : answer;
    },
    { method, args },
  );

const measures = {
  distance: { value: expect.any(Number), text: expect.stringMatching(/^[\d.,]+ (m|km)$/) },
  duration: { value: expect.any(Number), text: expect.stringMatching(/^\d+ mins?$/) },
};

describe.runIf(isRunnable)('radar-sdk-js with the embedded router', () => {
  it('resolves a distance with a route for each mode', async () => {
    const modes = ['car', 'foot', 'bike'];
    const { routes } = await radar('distance', { origin, destination, modes, geometry: 'linestring' });
    expect(routes.geodesic).toMatchObject({ distance: measures.distance });
    for (const mode of modes) {
      expect(routes[mode]).toMatchObject(measures);
      expect(routes[mode].distance.value).toBeGreaterThanOrEqual(routes.geodesic.distance.value);
      expect(routes[mode].geometry).toMatchObject({ type: 'LineString' });
      expect(routes[mode].geometry.coordinates.length).toBeGreaterThan(1);
    }
  });

  it('resolves a matrix with a cell for each pair', async () => {
    const { matrix, origins, destinations } = await radar('matrix', {
      origins: [origin, destination],
      destinations: [destination],
      mode: 'car',
    });
    expect([origins.length, destinations.length]).toEqual([2, 1]);
    expect(matrix).toMatchObject([
      [{ originIndex: 0, destinationIndex: 0, ...measures }],
      [{ originIndex: 1, destinationIndex: 0, distance: { value: expect.any(Number) } }],
    ]);
  });
});

describe.runIf(isRunnable)('radar-sdk-js with a database of IP addresses', () => {
  it('resolves the place of the browser', async () => {
    expect(await radar('ipGeocode')).toMatchObject({
      ip: '127.0.0.1',
      address: { latitude: 51.5142, longitude: -0.0931, city: 'London', countryCode: 'GB' },
      proxy: false,
    });
  });
});

describe.runIf(isRunnable)('radar-sdk-js without a postal register', () => {
  it('rejects the validation of an address as unknown', async () => {
    const address = { countryCode: 'US', stateCode: 'NY', city: 'Brooklyn', number: '841', street: 'Broadway' };
    const problem = await page.evaluate(
      (address) =>
        (globalThis as Json).Radar.validateAddress(address).catch(({ name, code }: Json) => ({ name, code })),
      { ...address, postalCode: '10003' },
    );
    expect(problem).toEqual({ name: 'RadarNotFoundError', code: 404 });
  });
});

describe.runIf(isRunnable)('the map of the dashboard with the embedded router', () => {
  it('draws a travel time by destination, minutes and mode, and saves it', async () => {
    const administrator = await server.administrator();
    const [project] = ok(await administrator.get('/v1/projects')).projects;
    const { url } = ok(await administrator.post('/v1/signin/links', { project: project._id }));
    const dashboard = await openPage(browser, { viewport: { width: 1280, height: 800 } });
    await dashboard.goto(url);
    await dashboard.getByRole('button', { name: 'Sign in', exact: true }).click();
    await dashboard.getByRole('navigation', { name: 'Main' }).waitFor();
    await dashboard.goto(`${server.address}/map?at=${latitude},${longitude},14`);
    await dashboard.getByText('0 geofences, 0 beacons').waitFor();
    await dashboard.getByRole('button', { name: 'Draw a travel time' }).press('Enter');
    await dashboard.getByLabel('Time', { exact: true }).fill('4');
    await dashboard.getByLabel('By', { exact: true }).selectOption('foot');
    // Regression: the page first asked for the area around no place, and showed for a moment that it was refused.
    const statuses: number[] = [];
    dashboard.on('response', (response) => {
      if (response.url().includes('/route/isochrone')) statuses.push(response.status());
    });
    await dashboard.locator('.map-canvas canvas').focus();
    await dashboard.keyboard.press('Enter');
    await dashboard.getByText('Computing the area.').waitFor();
    await dashboard.getByText('Pull the point to move it.').waitFor();
    expect(statuses).toEqual([200]);
    await dashboard.getByLabel('Description', { exact: true }).fill('Four minutes on foot');
    await dashboard.getByLabel('Tag', { exact: true }).fill('drawn');
    await dashboard.getByLabel('External id', { exact: true }).fill('foot');
    await dashboard.getByRole('button', { name: 'Create geofence' }).click();
    await dashboard.getByText('Four minutes on foot is saved.').waitFor();
    expect(ok(await server.as('test_secret').get('/v1/geofences/drawn/foot')).geofence).toMatchObject({
      type: 'isochrone',
      mode: 'foot',
      geometryRadius: 4,
    });
  });
});
