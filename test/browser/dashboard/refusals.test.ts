/** The dashboard in Chromium while the server refuses what is asked: the reason, the time, and what stays. */
import { readFile } from 'node:fs/promises';
import type { Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { until } from '../../../testing/until.js';
import { ok } from '../../support/client.js';
import { circle } from '../../support/places.js';
import { asOwner, asViewer, isRunnable, open, says, seriousFindings, server, useDashboard } from './fixture.js';

useDashboard();

type Role = 'owner' | 'viewer';

/** Opens a path as another owner of the project, whose role can be changed. */
async function asOtherOwner(path: string) {
  const page = await asViewer('/keys');
  const { session } = await (await page.request.get(`${server.address}/v1/session`)).json();
  const { request } = await asOwner('/keys');
  const headers = { Origin: server.address, 'X-Fenceline-Project': server.project };
  const { members } = await (await request.get(`${server.address}/v1/members`, { headers })).json();
  const { _id } = members.find(({ email }: { email: string }) => email === session.account.email);
  async function setRole(role: Role): Promise<void> {
    const answer = await request.put(`${server.address}/v1/members/${_id}`, { headers, data: { role } });
    expect(answer.status()).toBe(200);
  }
  await setRole('owner');
  await page.goto(server.address + path);
  return { page, setRole, email: session.account.email as string };
}

/** Refuses what the pattern names as the API does. */
const refuse = (page: Page, pattern: string, status: number, type: string, message: string, retryAfterS?: number) =>
  page.route(pattern, (route: Route) =>
    route.fulfill({
      status,
      ...(retryAfterS !== undefined && { headers: { 'Retry-After': `${retryAfterS}` } }),
      json: { meta: { code: status, type, message } },
    }),
  );

const roleNews = 'now, and may only read. Ask an owner if that is wrong.';

describe.runIf(isRunnable)('a refusal in the dashboard', () => {
  // It said "more than 10 attempts; try again later", and not that this meant a quarter of an hour.
  it('says when to try again, and lets the same form try then', async () => {
    const page = await open('/');
    await page.getByLabel('Email').fill('somebody@example.com');
    await page.getByLabel('Password').fill('correct horse battery');
    await refuse(page, '**/v1/signin', 429, 'too_many_attempts', 'more than 10 attempts; try again later', 817);
    const signIn = page.getByRole('button', { name: 'Sign in', exact: true });
    await signIn.click();
    await page.getByText('More than 10 attempts. Try again in 14 minutes.', { exact: true }).waitFor();
    expect(await page.getByLabel('Password').inputValue()).toBe('correct horse battery');
    await page.unrouteAll();
    await signIn.click();
    await page.getByText('The address or the password is wrong.').waitFor();
  });

  // Dialogs and forms for owners went away with the role, and with them the reason of the refusal. The actions on a
  // selection stayed.
  it('says that the role has changed, and takes away the actions that it does not allow', async () => {
    const backend = server.as('test_secret');
    const { _id } = await backend.putGeofence('kept', circle(0, 0, 100), 'role');
    // The last owner stays one.
    await asOtherOwner('/keys');
    const { page, setRole } = await asOtherOwner(`/geofences/${_id}`);
    const news = page.getByText(roleNews);
    await page.getByRole('button', { name: 'Delete' }).click();
    await setRole('viewer');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await news.waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(ok(await backend.get('/v1/geofences/role/kept')).geofence._id).toBe(_id);

    await setRole('owner');
    await page.goto(`${server.address}/geofences?tag=role`);
    await page.getByRole('checkbox', { name: 'Select kept' }).check();
    await setRole('viewer');
    await page.getByRole('button', { name: 'Disable' }).click();
    await news.waitFor();
    await page.getByRole('button', { name: 'Disable' }).waitFor({ state: 'detached' });
    expect(await seriousFindings(page)).toEqual([]);
    await page.goto(`${server.address}/geofences/new`);
    await page.getByText('Only owners of the project create geofences.').waitFor();
  });

  // The page asked for the password of a session that its user wanted to end.
  it('counts as the end of a session that is to end', async () => {
    const { page } = await asOtherOwner('/geofences/new');
    await page.getByLabel('Description').fill('Typed and given up');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Account and appearance' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.getByText('has ended').count()).toBe(0);
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  // The sign-in led to the start, as after the link of a mail.
  it('leads back to the account after the sign-in', async () => {
    const { page, email } = await asOtherOwner('/account');
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    await page.context().clearCookies();
    await page.reload();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
  });

  // The browser saved the refusal as "export.json".
  it('is no file: the page says why there is none', async () => {
    const page = await asOwner('/imports');
    const downloads: string[] = [];
    page.on('download', (download) => downloads.push(download.suggestedFilename()));
    await refuse(page, '**/export?*', 503, 'overloaded', '2 exports of this project are running', 10);
    const link = page.getByRole('link', { name: 'Export CSV' });
    await link.click();
    await page
      .getByText('The file could not be downloaded. 2 exports of this project are running. Try again in 10 seconds.')
      .waitFor();
    expect(downloads).toEqual([]);
    await page.unrouteAll();
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    expect(download.suggestedFilename()).toMatch(/^geofences_test_\w+\.csv$/);
    expect(await readFile(await download.path(), 'utf8')).toMatch(/^"?description/);
  });

  // The list beside it said that there was no location.
  it('is not taken for an empty range of a timeline', async () => {
    const backend = server.as('test_secret');
    await backend.track({ deviceId: 'phone', userId: 'ada', latitude: 1, longitude: 1 });
    const { _id } = await until(async () => ok(await backend.get('/v1/users?limit=1')).users[0]);
    const page = await asOwner('/keys');
    await refuse(page, '**/locations?*', 429, 'rate_limited', 'more than 5 calls per second', 2);
    await page.goto(`${server.address}/users/${_id}`);
    const alert = page.getByRole('alert').filter({ hasText: 'Try again in 2 seconds.' });
    await alert.waitFor();
    expect(await page.getByText('No location in this range').count()).toBe(0);
    await page.unrouteAll();
    await alert.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('region', { name: 'Locations and events' }).waitFor();
  });

  // It was a message behind the dialog, which neither a pointer nor a screen reader came to.
  it('of an attempt that is sent again stands in its dialog', async () => {
    const backend = server.as('test_secret');
    const { webhook } = ok(await backend.post('/v1/webhooks', { url: 'https://receiver.invalid/' }));
    const page = await asOwner('/keys');
    const attempt = {
      _id: '1',
      at: new Date().toISOString(),
      state: 'given_up',
      result: 'connection_failed',
      url: webhook.url,
      delivery: '1',
      attempt: 1,
      durationMs: 1,
      events: ['1'],
      reason: 'event',
      request: { body: '{}' },
      response: null,
    };
    await page.route('**/attempts?*', (route) =>
      route.fulfill({ json: { meta: { code: 200, hasMore: false }, attempts: [attempt] } }),
    );
    await refuse(page, '**/redeliver', 409, 'conflict', 'the webhook is disabled; enable it first');
    await page.goto(`${server.address}/webhooks/${webhook._id}`);
    await page.getByRole('row').nth(1).getByRole('button').click();
    const dialog = page.getByRole('dialog', { name: 'Attempt' });
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await dialog.getByRole('alert').getByText('The webhook is disabled; enable it first.').waitFor();
    await page.unroute('**/redeliver');
    await page.route('**/redeliver', (route) => route.fulfill({ json: { meta: { code: 200 }, deliveries: 1 } }));
    await says(page, 'It is sent again.', dialog.getByRole('button', { name: 'Send again' }).click());
  });

  // It had to be drawn again by a change of its fields.
  it('of a picture can be tried again', async () => {
    const page = await asOwner('/keys');
    await refuse(page, '**/maps/static?*', 429, 'rate_limited', 'the maps of this key have cost more', 5);
    await page.goto(`${server.address}/static-maps`);
    const picture = page.getByRole('region', { name: 'Picture' });
    await picture.getByText('The maps of this key have cost more. Try again in 5 seconds.').waitFor();
    await page.unrouteAll();
    await picture.getByRole('button', { name: 'Try again' }).click();
    await picture.getByRole('img', { name: 'The map' }).waitFor();
  });

  // A computer that slept for more than an hour came back to a replay that was running without end.
  it('of a replay that is no longer kept lets another one run', async () => {
    const page = await asOwner('/what-if');
    let asked = 0;
    await page.route('**/v1/replays/*', (route) => {
      asked += 1;
      const meta = { code: 404, type: 'not_found', message: 'there is no such replay' };
      if (asked > 1) return route.fulfill({ status: 404, json: { meta } });
      const none = { both: 0, replay: 0, record: 0 };
      const replay = { _id: '1', status: 'running', recordsRead: 1, recordsTotal: 2, kept: none };
      return route.fulfill({ json: { meta: { code: 200 }, replay } });
    });
    await page.getByLabel('Latitude').fill('1');
    await page.getByLabel('Longitude').fill('1');
    const run = page.getByRole('button', { name: 'Run', exact: true });
    await run.click();
    await page.getByText('There is no such replay.').waitFor();
    await expect.poll(() => run.getAttribute('aria-busy')).toBe(null);
    await page.unrouteAll();
  });

  // Without the members, each of them was "One-time link".
  it('of the members gives nobody another name', async () => {
    const { page, email } = await asOtherOwner('/keys');
    const file = 'description,type,tag,externalId,coordinates,radius\nOne,circle,by,one,"[1,1]",100\n';
    const answer = await page.request.post(`${server.address}/v1/geofences/import?fileName=by.csv&wait=10`, {
      headers: { Origin: server.address, 'X-Fenceline-Project': server.project, 'Content-Type': 'text/csv' },
      data: file,
    });
    expect(answer.status()).toBe(200);
    await refuse(page, '**/v1/members?*', 403, 'forbidden', 'not now');
    await page.goto(`${server.address}/imports`);
    const row = page.getByRole('row').filter({ hasText: 'by.csv' });
    await row.waitFor();
    expect(await row.getByText('One-time link').count()).toBe(0);
    await page.unrouteAll();
    await page.reload();
    await row.getByText(email).waitFor();
  });

  // A member list without its invitations looked as if there were none, and the health of a webhook was never there.
  it('of a part of a view is said, too', async () => {
    ok(await server.as('test_secret').post('/v1/webhooks', { url: 'https://receiver.invalid/health' }));
    const page = await asOwner('/keys');
    await refuse(page, '**/v1/invitations', 429, 'rate_limited', 'more than 5 calls per second', 2);
    await refuse(page, '**/attempts?*', 429, 'rate_limited', 'more than 5 calls per second', 2);
    await page.goto(`${server.address}/members`);
    await page.getByRole('alert').filter({ hasText: 'Try again in 2 seconds.' }).waitFor();
    await page.goto(`${server.address}/webhooks`);
    await page.getByText('Unknown', { exact: true }).first().waitFor();
    await page.unrouteAll();
  });

  // The search found nothing, as for an address that does not exist.
  it('of a search for addresses is said beside the places that were found', async () => {
    const page = await asOwner('/map');
    await refuse(page, '**/v1/geocode/forward?*', 429, 'rate_limited', 'more than 5 calls per second', 2);
    await page.getByRole('combobox', { name: 'Search by description' }).fill('Nowhere Road');
    await page.getByRole('status').filter({ hasText: '0 found. Addresses could not be searched' }).waitFor();
    await page.unrouteAll();
  });

  // The map stayed empty, and said nothing.
  it('of the style of a map is said on the map until the style is there', async () => {
    for (const view of ['/map', '/live']) {
      const page = await asOwner('/keys');
      await refuse(page, '**/maps/styles/*', 503, 'unavailable', 'the basemap could not be baked; see the log');
      await page.goto(server.address + view);
      const said = page.getByText('There is no map yet. The server says: the basemap could not be baked; see the log.');
      await said.waitFor();
      await page.unrouteAll();
      await said.waitFor({ state: 'detached' });
    }
  });

  // It said that the browser has no WebGL, and the words of the browser about its scripts.
  it('of code says that this could not be loaded', async () => {
    const page = await asOwner('/keys');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.route('**/assets/*', (route) => route.abort());
    await page.getByRole('button', { name: 'Account and appearance' }).click();
    await page.getByText('The menu could not be loaded. Try again, or load the page again.').waitFor();
    await page.unrouteAll();
    await page.route(/assets\/(map-view|layered-map)/, (route) => route.abort());
    for (const view of ['/map', '/live']) {
      await page.goto(server.address + view);
      await page.getByText('The map could not be loaded. Load the page again to see it.').waitFor();
    }
  });
});
