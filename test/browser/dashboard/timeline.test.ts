/** The views of users in Chromium: search, timeline with explanations, erasure. */
import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { until } from '../../../testing/until.js';
import { ok, trackDefaults } from '../../support/client.js';
import { at, circle, standing } from '../../support/places.js';
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
    // A row that was pressed before its list had searched for the typed text led back to the list.
    await page.getByRole('searchbox').fill('LINE-V');
    await page.getByRole('link', { name: 'anna' }).click();
    await page.getByText('3 locations, 2 with events').waitFor();
    await page.goBack();
    await page.getByRole('searchbox').fill('LINE-V');
    await page.waitForURL('**/users?search=LINE-V&*');
    await page.getByText('1 in all').waitFor();
    await page.getByRole('link', { name: 'anna' }).click();
    await page.getByText('3 locations, 2 with events').waitFor();
    // The search was lost on the way back to the list, and a link to it showed all users.
    await page.goBack();
    await page.getByText('1 in all').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('LINE-V');
    await page.reload();
    await page.getByRole('link', { name: 'anna' }).click();
    await page.getByRole('main').getByRole('link', { name: 'Users' }).click();
    await page.getByText('1 in all').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('LINE-V');
    await page.getByRole('link', { name: 'anna' }).click();
    await page.getByText('3 locations, 2 with events').waitFor();
    const list = page.getByRole('region', { name: 'Locations and events' });
    await list.getByRole('button', { name: /^No event/ }).waitFor();
    // Each of up to 3,000 rows was a tab stop.
    expect(await list.locator('button:not([tabindex="-1"])').count()).toBe(1);
    await list.getByRole('button').first().focus();
    await page.keyboard.press('End');
    await list.getByRole('listitem').last().locator('button:focus').waitFor();
    await page.getByRole('radio', { name: 'Only events' }).check();
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

    // The address chose the location again as soon as it was closed.
    const { at } = ok(await backend.get('/v1/users/anna/locations')).locations[1];
    await page.goto(`${page.url()}&at=${encodeURIComponent(at)}`);
    await why.getByText('Entered Market hall').waitFor();
    await why.getByRole('button', { name: 'Close' }).click();
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    expect(await why.count()).toBe(0);

    // A cut link waited for locations of no time, and then said "Invalid time value".
    await page.goto(`${page.url().split('?')[0]}?at=2026-11-28T15`);
    await page.getByText('3 locations, 2 with events').waitFor();

    await page.getByRole('button', { name: 'Erase user' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Erase' }).click();
    await page.getByText('The erasure has been accepted').waitFor();
  });

  // Only the newest 1,000 events were read, so the older locations said "No event".
  it('show the events of all locations of a timeline, also when they are more than a page', async () => {
    const backend = server.as('test_secret');
    for (const ring of [1, 2, 3, 4]) {
      await backend.putGeofence(`ring-${ring}`, { ...circle(20_000, 0, 100 * ring), description: 'Ring' }, 'ring');
    }
    const [count, stepMs] = [301, 10_000];
    const startMs = Date.now() - count * stepMs;
    const fixes = Array.from({ length: count }, (_, index) => {
      const [longitude, latitude] = at(20_000, index % 2 === 0 ? 2_000 : 0);
      const device = { deviceId: 'timeline-shuttle', userId: 'shuttle', ...trackDefaults };
      return { ...device, longitude, latitude, updatedAtMs: startMs + index * stepMs };
    });
    ok(await backend.bulk(fixes));
    await until(async () => (await backend.get('/v1/users/shuttle')).status === 200);
    const newestMs = fixes.at(-1)?.updatedAtMs;
    const newest = async (path: string, list: string) => ok(await backend.get(path))[list][0];
    await until(async () => Date.parse((await newest('/v1/users/shuttle/locations', 'locations'))?.at) === newestMs);
    await until(async () => Date.parse((await newest('/v1/events?userId=shuttle', 'events'))?.createdAt) === newestMs);

    const page = await asOwner(`/users/${ok(await backend.get('/v1/users/shuttle')).user._id}`);
    await page.getByText('301 locations, 300 with events').waitFor();
    const list = page.getByRole('region', { name: 'Locations and events' });
    await list.press('End');
    await list.getByRole('button', { name: /^No event/ }).waitFor();
    expect(await list.getByRole('button', { name: /^(Entered|Left) Ring and 3 more/ }).count()).toBeGreaterThan(5);
    expect(await list.getByRole('button', { name: /^4 events/ }).count()).toBe(0);
  });

  // Each explanation filled the screen, so the list of locations had to be found again for the next one.
  it('keep the chosen location in sight while it is explained, also among many geofences', async () => {
    const backend = server.as('test_secret');
    for (let index = 0; index < 12; index++) {
      await backend.putGeofence(`near-${index}`, circle(40_000, 20 * index, 100), 'near');
    }
    await backend.track({ deviceId: 'explained', userId: 'explained', ...trackDefaults, ...standing(40_000, 0) });
    await until(async () => (await backend.get('/v1/users/explained')).status === 200);
    await until(async () => ok(await backend.get('/v1/users/explained/locations')).locations.length === 1);

    const page = await asOwner(`/users/${ok(await backend.get('/v1/users/explained')).user._id}`);
    const chosen = page.getByRole('region', { name: 'Locations and events' }).getByRole('button');
    await chosen.click();
    const reasons = page.getByRole('region', { name: /^Why/ }).getByRole('listitem');
    await reasons.nth(9).waitFor();
    const isInSight = async (element: Locator): Promise<boolean> => {
      const { y, height } = (await element.boundingBox())!;
      return y >= 0 && y + height <= page.viewportSize()!.height;
    };
    await expect.poll(() => isInSight(reasons.first())).toBe(true);
    expect(await isInSight(chosen)).toBe(true);
  });
});
