/** The view What-if in Chromium: a proposed geofence, its events beside the recorded ones, and its creation. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ok } from '../../support/client.js';
import { at, circle, square, standing } from '../../support/places.js';
import { asOwner, isRunnable, says, seriousFindings, server, useDashboard } from './fixture.js';

useDashboard();

/** To the north of the hall. */
const yardM = 500;

describe.runIf(isRunnable)('the view What-if', () => {
  it('compares the events of a drawn geofence with the recorded ones, exports them, and creates it', async () => {
    const backend = server.as('test_secret');
    await backend.putGeofence('hall', { ...circle(0, 0, 100), description: 'Market hall' }, 'market');
    for (const northM of [1_000, 0, yardM]) await backend.track({ deviceId: 'van-1', ...standing(0, northM) });

    const page = await asOwner('/what-if');
    // Choices are soon made again, so nothing is asked.
    await page.getByRole('radio', { name: 'Polygon' }).check();
    await page.getByLabel('Locations of').selectOption('1');
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await page.getByRole('link', { name: 'What-if' }).click();
    // A click on the map erased GeoJSON that was pasted.
    const points = page.getByLabel('Points');
    await page.getByRole('radio', { name: 'Polygon' }).check();
    const pasted = JSON.stringify({ type: 'Polygon', coordinates: [square(0, yardM, 50).coordinates] });
    await points.fill(pasted);
    const mapOfProposal = page.locator('.map-canvas[aria-busy=false]');
    await mapOfProposal.waitFor();
    await says(page, 'Remove the GeoJSON', mapOfProposal.click());
    expect(await points.inputValue()).toBe(pasted);
    await page.getByRole('radio', { name: 'Circle' }).check();

    await page.getByLabel('Description').fill('Yard');
    // The map shows the only geofence in its middle, at this zoom.
    const [longitude, latitude] = at(0, yardM);
    const metresPerPixel = (40_075_016 / (512 * 2 ** 14)) * Math.cos((latitude * Math.PI) / 180);
    const map = page.getByRole('region', { name: 'Map of the proposal' });
    await expect
      .poll(async () => {
        const { width, height } = (await map.boundingBox())!;
        await map.click({ position: { x: width / 2, y: height / 2 - yardM / metresPerPixel } });
        return Number(await page.getByLabel('Latitude').inputValue());
      })
      .toBeCloseTo(latitude, 3);
    expect(Number(await page.getByLabel('Longitude').inputValue())).toBeCloseTo(longitude, 3);
    await page.getByLabel('Radius').fill('5');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('alert').filter({ hasText: 'radius' }).waitFor();
    await page.getByLabel('Radius').fill('150');
    await page.getByRole('button', { name: 'Run' }).click();
    const events = page.getByRole('region', { name: 'Events of the replay' });
    await events.getByText('1 added').waitFor();
    await events.getByRole('button', { name: /^Entered Yard/ }).waitFor();
    // The recorded events stay: the hall was entered and left.
    await events.getByRole('radio', { name: 'Unchanged' }).check();
    await events.getByText('2 unchanged').waitFor();
    // Each event was a tab stop.
    expect(await events.locator('li button:not([tabindex="-1"])').count()).toBe(1);
    await events.locator('li button').first().press('ArrowDown');
    await events.locator('li:nth-child(2) button:focus').waitFor();
    // They had the names of machines: what-if/proposed and market/hall.
    const changes = page.getByRole('region', { name: 'Events of each geofence and beacon' });
    for (const name of ['Yard', 'Market hall']) await changes.getByRole('cell', { name, exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);

    const downloaded = page.waitForEvent('download');
    await events.getByRole('button', { name: 'Export CSV' }).click();
    const csv = readFileSync(await (await downloaded).path(), 'utf8');
    const [header, ...rows] = csv.trimEnd().split('\r\n');
    expect(header).toMatch(/^change,firstLocation,_id,type,/);
    expect(rows.map((row) => row.split(',')[0]).sort()).toEqual(['added', 'unchanged', 'unchanged']);

    // The proposal was lost without a question.
    const question = page.getByRole('dialog', { name: 'Discard your changes?' });
    const leaveFor = async (name: string, answer = 'Discard') => {
      await page.getByRole('link', { name, exact: true }).click();
      await question.getByRole('button', { name: answer }).click();
      await question.waitFor({ state: 'detached' });
    };
    await leaveFor('Keys', 'Cancel');
    expect(await page.getByLabel('Radius').inputValue()).toBe('150');

    // The replay went on when its view was left.
    await page.route('**/v1/replays/*', async (route) => {
      if (route.request().method() === 'DELETE') await route.continue();
    });
    await Promise.all([
      page.waitForRequest((request) => request.method() === 'GET' && request.url().includes('/v1/replays/')),
      page.getByRole('button', { name: 'Run' }).click(),
    ]);
    await Promise.all([
      page.waitForRequest((request) => request.method() === 'DELETE' && request.url().includes('/v1/replays/')),
      leaveFor('Keys'),
    ]);
    await page.unrouteAll();
    await page.getByRole('link', { name: 'What-if' }).click();
    await page.getByLabel('Description').fill('Yard');
    await page.getByLabel('Latitude').fill(String(latitude));
    await page.getByLabel('Longitude').fill(String(longitude));
    await page.getByLabel('Radius').fill('150');

    await page.getByRole('button', { name: 'Create this geofence' }).click();
    // It is saved, so nothing is asked. The words came only if the view waited for them.
    await page.getByText('Yard is created.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Yard' }).waitFor();
    const { geofences } = ok(await backend.get('/v1/geofences?tag=what-if'));
    expect(geofences).toMatchObject([{ description: 'Yard', geometryRadius: 150 }]);
  });
});
