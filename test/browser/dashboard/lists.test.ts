/** The lists of geofences and beacons in Chromium: filters in the address, and changes of all that match. */
import { describe, expect, it } from 'vitest';
import { until } from '../../../testing/until.js';
import { ok, trackDefaults } from '../../support/client.js';
import { circle, standing } from '../../support/places.js';
import { asOwner, isRunnable, says, seriousFindings, server, useDashboard } from './fixture.js';

useDashboard();

/** More than one page of the list. */
const storeCount = 230;
/** More than one request of a change of many takes. */
const oldCount = 600;

describe.runIf(isRunnable)('the lists', () => {
  it('keep their filters in the address, where Back and a copied link find them', async () => {
    const backend = server.as('test_secret');
    for (const name of ['north', 'south']) {
      const fields = { ...circle(0, 0, 100), description: `Café ${name}`, metadata: { floor: name.length } };
      ok(await backend.send('PUT', `/v1/geofences/cafe/${name}`, { body: fields }));
    }
    const fields = { ...circle(0, 0, 100), description: 'Café closed', enabled: false };
    ok(await backend.send('PUT', '/v1/geofences/cafe/closed', { body: fields }));

    const page = await asOwner('/geofences');
    await page.getByRole('searchbox', { name: /^Search/ }).fill('CAFE');
    await page.getByText('3 in all').waitFor();
    // It showed the disabled ones, under "Any state".
    const mistyped = await asOwner('/geofences?search=cafe&state=enable');
    await mistyped.getByText('3 in all').waitFor();
    expect(await mistyped.getByLabel('State').inputValue()).toBe('');
    await mistyped.close();
    await page.getByLabel('State').selectOption('Enabled');
    await page.getByText('2 in all').waitFor();
    await page.getByRole('button', { name: 'Description' }).click();
    await expect.poll(() => page.getByRole('row').nth(1).textContent()).toContain('Café north');
    await page.getByRole('button', { name: 'Description' }).click();
    await expect.poll(() => page.getByRole('row').nth(1).textContent()).toContain('Café south');
    expect(await seriousFindings(page)).toEqual([]);

    const shared = await asOwner(new URL(page.url()).pathname + new URL(page.url()).search);
    await shared.getByText('2 in all').waitFor();
    expect(await shared.getByRole('searchbox', { name: /^Search/ }).inputValue()).toBe('CAFE');

    await page.getByRole('link', { name: 'Café south' }).click();
    await page.getByRole('button', { name: 'Save changes' }).waitFor();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByText('2 in all').waitFor();
    await page.getByLabel('State').selectOption('Disabled');
    await page.getByText('1 in all').waitFor();
    await page.goBack();
    await page.getByText('2 in all').waitFor();
    await page.getByRole('searchbox', { name: 'Metadata name' }).fill('floor');
    await page.getByRole('searchbox', { name: 'Metadata value' }).fill('9');
    await page.getByText('Nothing matches').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.getByText('3 in all').waitFor();

    // The beginning of Arabic and Hebrew names was cut off.
    await backend.putGeofence('arabic', { ...circle(0, 0, 100), description: 'متجر '.repeat(30).trim() }, 'cafe');
    await page.reload();
    const cell = page.getByRole('cell').filter({ has: page.getByRole('link', { name: 'متجر' }) });
    const { direction, textAlign } = await cell.evaluate((each) => {
      const { direction, textAlign } = each.ownerDocument.defaultView!.getComputedStyle(each);
      return { direction, textAlign };
    });
    expect({ direction, textAlign }).toEqual({ direction: 'rtl', textAlign: 'left' });
  });

  it('change all matching records, even those not loaded, after a confirmation with their number', async () => {
    const backend = server.as('test_secret');
    const records = Array.from({ length: storeCount }, (_, index) => ({
      ...circle(0, 0, 100),
      tag: 'store',
      externalId: `${index}`,
      description: `Store ${index}`,
    }));
    ok(await backend.send('POST', '/v1/geofences/batch', { body: { geofences: records } }));
    const page = await asOwner('/');
    // Once, the offer to select all went away when the next page of rows came after the tick.
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/v1/geofences?*cursor=*', (route) => released.then(() => route.continue()));
    await page.goto(`${server.address}/geofences?tag=store`);
    await page.getByText(`${storeCount} in all`).waitFor();
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await page.getByText('50 selected').waitFor();
    release();
    await page.getByText('100 are loaded').waitFor();
    await page.getByRole('button', { name: `Select all ${storeCount} that match` }).click();
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('heading', { name: `Disable ${storeCount} geofences?` }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByText(`${storeCount} records are disabled.`).waitFor();
    expect(ok(await backend.get('/v1/geofences/count?tag=store&enabled=false')).count).toBe(storeCount);

    await page.getByText('100 are loaded').waitFor();
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await page.getByRole('button', { name: `Select all ${storeCount} that match` }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Nothing matches').waitFor();
    expect(ok(await backend.get('/v1/geofences/count?tag=store')).count).toBe(0);
  });

  // Each refusal of the next page led to the next request at once, for as long as the list was open.
  it('ask once for a page of rows that the server refuses, until the reader tries again', async () => {
    const geofences = Array.from({ length: 60 }, (_, index) => ({
      ...circle(0, 0, 100),
      tag: 'long',
      externalId: `${index}`,
      description: `Long ${index}`,
    }));
    ok(await server.as('test_secret').send('POST', '/v1/geofences/batch', { body: { geofences } }));
    const page = await asOwner('/keys');
    let asked = 0;
    const nextPage = '**/v1/geofences?*cursor=*';
    await page.route(nextPage, (route) => {
      asked += 1;
      return route.fulfill({ status: 429, json: { meta: { code: 429, type: 'rate_limited', message: 'too many' } } });
    });
    await page.goto(`${server.address}/geofences?tag=long`);
    await page.getByRole('alert').getByText('This could not be loaded.').waitFor();
    // The page would have asked again before this answer.
    await page.evaluate("fetch('/v1/session').then((answer) => answer.text())");
    expect(asked).toBe(1);
    await page.unroute(nextPage);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('table').and(page.locator('[aria-rowcount="61"]')).waitFor();
  });

  // The list of users had a button instead.
  it('load further users while the reader scrolls', async () => {
    const count = 130;
    const backend = server.as('test_secret');
    const locations = Array.from({ length: count }, (_, index) => ({
      ...trackDefaults,
      ...standing(0, 0),
      deviceId: `scrolled-${index}`,
    }));
    ok(await backend.bulk(locations));
    const isStored = async () => ok(await backend.get('/v1/users?limit=200&search=scrolled')).users.length === count;
    await until(isStored);
    const page = await asOwner('/users?search=scrolled');
    const list = page.getByRole('region', { name: 'List of users' });
    await list.getByRole('row').nth(1).waitFor();
    await list.evaluate((each) => each.scrollTo(0, each.scrollHeight));
    await page.getByText(`${count} in all`).waitFor();
    // The view scrolled beside the list, whose foot was out of sight.
    const beneathPx = async (width: number, height: number): Promise<number> => {
      await page.setViewportSize({ width, height });
      return page.getByRole('main').evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight);
    };
    expect(await beneathPx(1440, 900)).toBe(0);
    expect(await beneathPx(390, 844)).toBe(0);
  });

  // All members were in the document, with two tab stops each, and nothing found one of them.
  it('have the members in sight only, find one by email, and change a role without losing the focus', async () => {
    // A project has this many members after a week of invitations, so the answer is composed.
    const members = Array.from({ length: 1_000 }, (_, index) => ({
      _id: `${index}`.padStart(24, '0'),
      email: `member-${index}@example.com`,
      role: index === 0 ? 'owner' : 'viewer',
      createdAt: new Date(0).toISOString(),
    }));
    const page = await asOwner('/keys');
    const changed: { url: string; body: string | null }[] = [];
    await page.route('**/v1/members?*', (route) => route.fulfill({ json: { meta: { code: 200 }, members } }));
    await page.route('**/v1/members/*', (route) => {
      changed.push({ url: route.request().url(), body: route.request().postData() });
      return route.fulfill({ json: { meta: { code: 200 }, members } });
    });
    await page.goto(`${server.address}/members`);
    const list = page.getByRole('region', { name: 'List of members' });
    await list.getByRole('row').nth(1).waitFor();
    expect(await list.getByRole('combobox').count()).toBeLessThan(60);
    expect(await list.getByRole('table').getAttribute('aria-rowcount')).toBe('1001');
    expect(await seriousFindings(page)).toEqual([]);
    // An arrow key on a closed field of a choice would change the role at once.
    await list.getByLabel('Role of member-0@example.com').focus();
    await page.keyboard.press('End');
    await list.getByLabel('Role of member-999@example.com').and(page.locator(':focus')).waitFor();
    expect(changed).toEqual([]);

    await page.getByRole('searchbox', { name: 'Search by email' }).fill('MEMBER-77@');
    await page.getByText('1 of 1,000 members').waitFor();
    const role = list.getByLabel('Role of member-77@example.com');
    await role.focus();
    await role.selectOption('Owner');
    await expect.poll(() => changed.length).toBe(1);
    expect(changed[0]!.url).toContain(members[77]!._id);
    expect(JSON.parse(changed[0]!.body!)).toEqual({ role: 'owner' });
    await role.and(page.locator(':focus')).waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  // A deletion of all that match went on in Live when the environment was changed while it ran in Test: each of its
  // requests read the chosen environment anew, so Live lost records that nobody had selected.
  it('end a change when another environment is chosen, and leave that one as it is', async () => {
    const geofences = Array.from({ length: oldCount }, (_, index) => ({
      ...circle(0, 0, 100),
      tag: 'old',
      externalId: `${index}`,
      description: `Old ${index}`,
    }));
    for (const key of ['test_secret', 'live_secret'] as const) {
      for (const half of [geofences.slice(0, oldCount / 2), geofences.slice(oldCount / 2)]) {
        ok(await server.as(key).send('POST', '/v1/geofences/batch', { body: { geofences: half } }));
      }
    }
    const oldOnes = async (key: 'test_secret' | 'live_secret') =>
      ok(await server.as(key).get('/v1/geofences/count?tag=old')).count;
    const page = await asOwner('/geofences?tag=old');
    const changes: Record<string, string>[] = [];
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/v1/geofences/bulk', async (route) => {
      changes.push(route.request().headers());
      await released;
      await route.continue();
    });
    // A page of rows that comes while the box is ticked unticks it again.
    await page.getByText('100 are loaded').waitFor();
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await page.getByRole('button', { name: `Select all ${oldCount} that match` }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await expect.poll(() => changes.length).toBe(1);
    await page.getByRole('radio', { name: 'Live' }).check();
    await page.locator('.live-line').waitFor({ state: 'attached' });
    await says(page, 'Stopped in Test: 500 records are deleted.', Promise.resolve(release()));
    expect(changes.map((headers) => headers['x-fenceline-environment'])).toEqual(['test']);
    expect(await oldOnes('test_secret')).toBe(oldCount - 500);
    expect(await oldOnes('live_secret')).toBe(oldCount);
  });

  // The space was taken away while its reader thought about the next word, so "two words" became "twowords".
  it('keeps a space that is typed at the end of a search', async () => {
    ok(await server.as('test_secret').post('/v1/webhooks', { url: 'https://receiver.invalid/', description: 'a b' }));
    const page = await asOwner('/webhooks');
    const search = page.getByRole('searchbox', { name: 'Search URLs and descriptions' });
    await search.pressSequentially('a ');
    await page.waitForURL(/search=a(&|$)/);
    await search.pressSequentially('b');
    await page.waitForURL(/search=a(\+|%20)b/);
    expect(await search.inputValue()).toBe('a b');
    await page.getByText('1 of 1 webhook').waitFor();
  });
});
