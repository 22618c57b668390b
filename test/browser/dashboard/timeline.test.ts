/** The views of users in Chromium: search, timeline with explanations, erasure. */
import { describe, expect, it } from 'vitest';
import { until } from '../../../testing/until.js';
import { ok } from '../../support/client.js';
import { circle, standing } from '../../support/places.js';
import { asOwner, isRunnable, seriousFindings, server, useDashboard } from './fixture.js';

useDashboard();

describe.runIf(isRunnable)('the views of users', () => {
  it("find a user, explain each event and each that did not happen, and erase the user's data", async () => {
    const backend = server.as('test_secret');
    await backend.putGeofence('hall', { ...circle(0, 0, 100), description: 'Market hall' }, 'market');
    await backend.putGeofence('yard', { ...circle(0, 400, 100), description: 'Yard' }, 'depot');
    for (const northM of [250, 0, 180]) {
      await backend.track({ deviceId: 'timeline-van', userId: 'anna', accuracy: 20, ...standing(0, northM) });
    }
    const stored = async () => ok(await backend.get('/v1/users/anna/locations')).locations.length === 3;
    await until(async () => (await backend.get('/v1/users/anna')).status === 200 && (await stored()));

    const page = await asOwner('/users');
    await page.getByRole('searchbox').fill('LINE-V');
    await page.getByText('1 in all').waitFor();
    await page.getByRole('link', { name: 'anna' }).click();
    await page.getByText('3 locations, 2 with events').waitFor();
    const list = page.getByRole('region', { name: 'Locations and events' });
    await list.getByRole('button', { name: /^No event/ }).waitFor();
    await page.getByRole('radio', { name: 'Only events' }).check({ force: true });
    await list.getByRole('button', { name: /^No event/ }).waitFor({ state: 'detached' });
    expect(await list.getByRole('button').count()).toBe(2);
    await page.getByRole('button', { name: /^Entered Market hall/ }).click();
    const why = page.getByRole('region', { name: /^Why/ });
    await why.getByText('Entered Market hall').waitFor();
    await why.getByText(/100 m inside the boundary.*±20 m.*Confidence 3 of 3/).waitFor();
    await why.getByText('No event for Yard').waitFor();
    await why.getByText(/300 m outside the boundary.*still is/).waitFor();
    expect(await seriousFindings(page)).toEqual([]);

    // Another radius: what is on record is not what the geofence of now would make.
    ok(await backend.send('PATCH', '/v1/geofences/market/hall', { body: { radius: 300 } }));
    await page.reload();
    await page.getByRole('button', { name: /^Entered Market hall/ }).click();
    await why.getByText('Entered Market hall').waitFor();

    await page.getByRole('button', { name: 'Erase user' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Erase' }).click();
    await page.getByText('The erasure has been accepted').waitFor();
  });
});
