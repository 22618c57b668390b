/** The dashboard in Chromium: a user signs in, creates a geofence, and sees what follows. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { ok } from '../../support/client.js';
import { circle } from '../../support/places.js';
import {
  asOwner,
  asViewer,
  isRunnable,
  oneTimeLink,
  open,
  overflowPx,
  says,
  seriousFindings,
  server,
  useDashboard,
} from './fixture.js';

useDashboard();

const views = [
  '/map',
  '/start',
  '/analytics',
  '/geofences',
  '/geofences/new',
  '/beacons',
  '/beacons/new',
  '/imports',
  '/live',
  '/users',
  '/what-if',
  '/webhooks',
  '/keys',
  '/static-maps',
  '/settings',
  '/sync',
  '/members',
  '/account',
];

/** Returns the chosen environment as the switch shows it, if both of its sides are seen and nothing covers them. */
const environmentAt = (page: Page) =>
  page.getByRole('group', { name: 'Environment' }).evaluate((group) => {
    const labels = [...group.querySelectorAll('label')];
    const isSeen = labels.every((label) => {
      const { left, top, width, height } = label.getBoundingClientRect();
      return width > 0 && label.contains(label.ownerDocument.elementFromPoint(left + width / 2, top + height / 2));
    });
    return isSeen && labels.find((label) => label.querySelector('input')?.checked)?.textContent;
  });

/** Shows another view, as a link of the page does, without loading the page again. */
async function goTo(page: Page, view: string): Promise<void> {
  const heading = page.getByRole('heading', { level: 1 });
  await heading.evaluate((left, path) => {
    left.id = 'left';
    const { history } = left.ownerDocument.defaultView!;
    history.pushState(null, '', path);
  }, view);
  await page.locator('h1#left').waitFor({ state: 'detached' });
  await heading.waitFor();
}

describe.runIf(isRunnable)('the dashboard', () => {
  it('shows every view with its environment in both themes, at 360 px too, without serious axe findings', async () => {
    const page = await asOwner('/');
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 360],
    ] as const) {
      // Before the page loads: Chromium does not always tell a page that has just loaded of another scheme.
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 760 });
      await page.goto(`${server.address}/keys`);
      await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
      for (const view of views) {
        await goTo(page, view);
        await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
        expect([view, await seriousFindings(page)]).toEqual([view, []]);
        expect(await page.locator('html').evaluate(({ scrollWidth }) => scrollWidth)).toBe(width);
        expect([view, await overflowPx(page)]).toEqual([view, 0]);
        expect([view, await environmentAt(page)]).toEqual([view, 'Test']);
      }
    }
  });

  // Buttons lay beside the screen, and the switch of environments under the menu of the account.
  it('keeps every view within a screen of 360 px with letters of twice the size', async () => {
    const page = await asOwner('/', { viewport: { width: 360, height: 760 } });
    await page.goto(`${server.address}/keys`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('html').evaluate(({ style }) => {
      style.fontSize = '200%';
    });
    for (const view of views) {
      await goTo(page, view);
      await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
      expect([view, await page.locator('html').evaluate(({ scrollWidth }) => scrollWidth)]).toEqual([view, 360]);
      expect([view, await overflowPx(page)]).toEqual([view, 0]);
      expect([view, await environmentAt(page)]).toEqual([view, 'Test']);
    }
  });

  it('uses a one-time link once, and takes its token out of the address', async () => {
    const { hash } = new URL((await oneTimeLink()).url);
    const page = await open(`/account${hash}`);
    await page.getByRole('heading', { name: 'Sign in by the one-time link' }).waitFor();
    expect(new URL(page.url()).hash).toBe('');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    const second = await open(`/account${hash}`);
    await second.getByRole('button', { name: 'Sign in', exact: true }).click();
    await second.getByText('the token is unknown, used or expired').waitFor();
  });

  it('creates an account, shows its keys once, and signs out and in', async () => {
    const page = await open('/');
    const email = `dashboard-${Date.now()}@example.com`;
    await expect.poll(() => page.title()).toBe('Sign in · Fenceline');
    await page.getByRole('button', { name: 'Create an account' }).click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill('short');
    await page.getByLabel('Project').fill('A shop');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('alert').filter({ hasText: 'password' }).waitFor();
    await page.getByLabel('Password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('prj_live_sk_').waitFor();
    // Nothing said that another form was there, and the focus was lost.
    expect(await page.title()).toBe('Your keys · Fenceline');
    await page.locator('main .card:focus').waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Project: A shop' }).waitFor();

    await page.getByRole('button', { name: 'Account and appearance' }).click();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill('a wrong password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('the address or the password is wrong').waitFor();
    await page.getByLabel('Password').fill('correct horse battery');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Project: A shop' }).waitFor();
  });

  it('leads from an empty project to its first event, which arrives by itself', async () => {
    const page = await asOwner('/start');
    await page.getByRole('radio', { name: 'Live' }).check();
    await page.getByLabel('Radius').fill('5');
    await page.getByRole('button', { name: 'Create geofence' }).click();
    // It began with the API's name of the field, "radius: must be".
    await page.getByText('Radius must be a number from 10 to 10000 metres', { exact: true }).waitFor();
    await page.getByLabel('Radius').fill('100');
    await page.getByRole('button', { name: 'Create geofence' }).click();
    await page.getByText('Waiting for the first event').waitFor();
    await page.getByRole('button', { name: 'Send it from this page' }).click();
    await page.getByText('user.entered_geofence').first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  // The event came after the list of events was read and before the stream was open, and never appeared.
  it('prints a line for a terminal that sends a location, and shows its event whenever it comes', async () => {
    const page = await asOwner('/keys');
    let release = () => {};
    const isSent = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/v1/events/stream**', async (route) => {
      await isSent;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Replace the publishable key' }).press('Enter');
    await page.getByRole('button', { name: 'Replace key' }).press('Enter');
    await page.getByText(/^prj_test_pk_[0-9a-f]+$/).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Getting started' }).click();
    await page.getByRole('button', { name: 'Create geofence' }).click();
    // The line is there before, and a location that comes before its geofence enters nothing.
    await page.getByText('is monitored').waitFor();
    const line = await page.getByText(/^curl http/).textContent();
    await promisify(execFile)('sh', ['-c', `${line} --fail --silent --show-error`]);
    release();
    await page.getByText('user.entered_geofence').first().waitFor();
  });

  it('creates a geofence with problems at their fields, edits it, and keeps what another has changed', async () => {
    const page = await asOwner('/geofences/new');
    await page.getByLabel('Description').fill('Market hall');
    await page.getByLabel('Tag').fill('market');
    await page.getByLabel('External id').fill('hall');
    await page.getByLabel('Latitude').fill('91');
    await page.getByLabel('Longitude').fill('11.25');
    await page.getByRole('button', { name: 'Create geofence' }).click();
    await page.getByText('Latitude must be a number from -90 to 90', { exact: true }).waitFor();
    await page.getByLabel('Latitude').and(page.locator(':focus')).waitFor();
    await page.getByLabel('Latitude').fill('43,77');
    // A wrong longitude was reported at the latitude.
    await page.getByLabel('Longitude').fill('181');
    await page.getByRole('button', { name: 'Create geofence' }).click();
    await page.getByText('Longitude must be a number from -180 to 180', { exact: true }).waitFor();
    await page.getByLabel('Longitude').and(page.locator(':focus')).waitFor();
    await page.getByLabel('Longitude').fill('11.25');
    await page.getByLabel('Radius').fill('5');
    await page.getByRole('button', { name: 'Create geofence' }).click();
    await page.getByLabel('Radius').and(page.locator(':focus')).waitFor();
    await page.getByLabel('Radius').fill('100');
    // There was no picture with a decimal comma, which the form accepts.
    await page.getByRole('img', { name: 'The area on a map' }).waitFor();
    await page.getByRole('checkbox', { name: 'Always open' }).uncheck();
    await page.getByLabel('Tuesday, closing 1').fill('13:00');
    await page.getByRole('button', { name: 'Add a value' }).click();
    await page.getByLabel('Name', { exact: true }).fill('floor');
    await page.getByLabel('Value of floor').fill('2');
    await page.getByLabel('Type of floor').selectOption('number');
    await page.getByRole('button', { name: 'Create geofence' }).press('Enter');
    await page.getByRole('link', { name: 'Market hall' }).waitFor();
    // The keyboard goes on in the list.
    await page.locator('main:focus').waitFor();
    await page.getByRole('link', { name: 'Market hall' }).click();

    const backend = server.as('test_secret');
    const stored = async () => ok(await backend.get('/v1/geofences/market/hall')).geofence;
    expect(await stored()).toMatchObject({
      metadata: { floor: 2 },
      operatingHours: { Mon: [['09:00', '17:00']], Tue: [['09:00', '13:00']], Sun: [] },
    });
    await page.getByLabel('Radius').fill('250');
    ok(await backend.send('PATCH', '/v1/geofences/market/hall', { body: { description: 'Renamed meanwhile' } }));
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Somebody else has changed').waitFor();
    // The typed radius was gone without a question.
    await page.getByRole('button', { name: 'Show its present state' }).click();
    const question = page.getByRole('dialog', { name: 'Discard your changes?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await page.getByLabel('Radius').inputValue()).toBe('250');
    await page.getByRole('button', { name: 'Show its present state' }).click();
    await question.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('heading', { name: 'Renamed meanwhile' }).waitFor();
    await page.getByLabel('Radius').fill('250');
    await page.getByRole('button', { name: 'Remove floor' }).click();
    expect(await seriousFindings(page)).toEqual([]);
    await says(page, 'Renamed meanwhile is saved.', page.getByRole('button', { name: 'Save changes' }).click());
    const saved = await stored();
    expect(saved).toMatchObject({ description: 'Renamed meanwhile', geometryRadius: 250 });
    expect(saved.metadata).toBeUndefined();

    // The form began with the revision that the page had read before, and its changes could not be saved.
    await page.getByRole('link', { name: 'Renamed meanwhile' }).click();
    await page.getByLabel('Radius').waitFor();
    await page.getByRole('link', { name: 'Cancel' }).click();
    ok(await backend.send('PATCH', '/v1/geofences/market/hall', { body: { radius: 333 } }));
    await page.getByRole('link', { name: 'Renamed meanwhile' }).click();
    expect(await page.getByLabel('Radius').inputValue()).toBe('333');

    // A geofence that was moved lost its address, and no longer followed its place, without a word.
    const hall = await stored();
    const place = { name: 'Kiosk', geometry: { type: 'Point', coordinates: [11.26, 43.77] } };
    ok(await backend.put('/v1/places/kiosk', place));
    const update = (body: object) => backend.send('PATCH', '/v1/geofences/market/hall', { body });
    ok(await update({ address: 'Florence', coordinates: hall.geometryCenter.coordinates }));
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('link', { name: 'Renamed meanwhile' }).click();
    await page.getByLabel('Latitude').fill('43.78');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('link', { name: 'Renamed meanwhile' }).waitFor();
    expect(await stored()).toMatchObject({ address: 'Florence', geometryCenter: { coordinates: [11.25, 43.78] } });
    ok(await update({ placeId: 'kiosk' }));
    await page.getByRole('link', { name: 'Renamed meanwhile' }).click();
    await page.getByText('The geofence follows place kiosk.').waitFor();
    await page.getByLabel('Latitude').fill('43.79');
    await page.getByText('When this is saved, the geofence no longer follows place kiosk.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  // The form said "there is no such geofence" to each save, and its deletion said the same.
  it('says that a record was deleted while it was edited, creates it again, and deletes what is gone', async () => {
    const backend = server.as('test_secret');
    const { _id } = await backend.putGeofence('gone', circle(0, 0, 100), 'meanwhile');
    for (const path of [`/geofences/${_id}`, `/map?geofence=${_id}`]) {
      await backend.putGeofence('gone', circle(0, 0, 100), 'meanwhile');
      const page = await asOwner(path);
      const form = page.locator('main form');
      await form.getByLabel('Description').fill('Typed here');
      ok(await backend.send('DELETE', '/v1/geofences/meanwhile/gone'));
      await form.getByRole('button', { name: 'Save changes' }).click();
      await form.getByText('Somebody else has deleted this record').waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      await says(page, 'Typed here is saved.', form.getByRole('button', { name: 'Create it again' }).click());
      expect(ok(await backend.get('/v1/geofences/meanwhile/gone')).geofence.description).toBe('Typed here');
      await page.goto(server.address + path);
      await form.getByLabel('Description').waitFor();
      ok(await backend.send('DELETE', '/v1/geofences/meanwhile/gone'));
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await form.waitFor({ state: 'detached' });
      await page.close();
    }
  });

  // A click on another view dropped a filled form of a geofence without a question.
  it('asks before a form with changes is left by anything but its own buttons', async () => {
    const backend = server.as('test_secret');
    await backend.putGeofence('Kiosk', circle(0, 0, 100), 'unsaved');
    const page = await asOwner('/geofences/new');
    const description = page.getByLabel('Description');
    const kiosk = page.getByRole('link', { name: 'Kiosk' });
    await description.fill('Typed');
    await page.getByRole('link', { name: 'Beacons' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(await description.inputValue()).toBe('Typed');
    await page.getByRole('link', { name: 'Cancel' }).click();
    await kiosk.click();
    await description.fill('Kiosk at the gate');
    // The answer of a save replaced what was typed meanwhile.
    let answer = (): void => {};
    const isAnswered = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/v1/geofences/*', (route) => isAnswered.then(() => route.abort()), { times: 1 });
    await description.press('Enter');
    await page.getByRole('button', { name: 'Save changes' }).and(page.locator('[aria-busy]')).waitFor();
    expect(await description.isDisabled()).toBe(true);
    answer();
    await page.getByRole('alert').filter({ hasText: 'The server did not answer' }).waitFor();
    await description.and(page.locator(':focus')).waitFor();
    await page.getByText('The server does not answer').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save changes' }).click();
    await kiosk.click();
    await description.fill('Typed');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Geofences', level: 1 }).waitFor();
    await kiosk.waitFor({ state: 'detached' });
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('filters geofences, and disables, enables and deletes the selected ones', async () => {
    const backend = server.as('test_secret');
    for (const externalId of ['one', 'two', 'three']) await backend.putGeofence(externalId, circle(0, 0, 100), 'bulk');
    const page = await asOwner('/geofences');
    await page.getByRole('searchbox', { name: 'Tag' }).fill('bulk');
    await page.getByText('3 in all').waitFor();
    await page.getByRole('checkbox', { name: 'Select one' }).check();
    await page.getByRole('checkbox', { name: 'Select two' }).check();
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('2 records are disabled.').waitFor();
    expect(ok(await backend.get('/v1/geofences/bulk/two')).geofence.enabled).toBe(false);
    expect(ok(await backend.get('/v1/geofences/bulk/three')).geofence.enabled).toBe(true);
    await page.getByRole('checkbox', { name: 'Select two' }).check();
    await page.getByRole('checkbox', { name: 'Select three' }).check();
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByText('2 records are enabled.').waitFor();
    expect(ok(await backend.get('/v1/geofences/bulk/one')).geofence.enabled).toBe(false);
    expect(ok(await backend.get('/v1/geofences/bulk/two')).geofence.enabled).toBe(true);
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Nothing matches').waitFor();
  });

  it('replaces a key, and shows the new one, which works', async () => {
    const page = await asOwner('/keys');
    await page.getByRole('button', { name: 'Replace the publishable key' }).press('Enter');
    await page.getByRole('dialog').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Replace key' }).press('Enter');
    const key = await page.getByText(/^prj_test_pk_[0-9a-f]+$/).textContent();
    expect((await server.withKey(key ?? '').get('/v1/config')).status).toBe(200);
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.locator('[aria-label="Replace the publishable key"]:focus').waitFor();
  });

  it('creates a webhook, shows its attempts with request and response, and rotates its secret', async () => {
    const page = await asOwner('/webhooks');
    await page.getByRole('button', { name: 'New webhook' }).first().click();
    await page.getByLabel('URL').fill('nowhere');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByRole('alert').filter({ hasText: 'URL must' }).waitFor();
    // A name that never resolves: the attempt fails in the same way on every machine.
    await page.getByLabel('URL').fill('https://receiver.invalid/events');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByText(/^whsec_/).waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Send a sample' }).click();
    await page.getByRole('table').getByRole('button').click();
    await page.getByRole('dialog').getByText('Request', { exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('tab', { name: 'Secrets' }).click();
    await page.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await page
      .getByRole('dialog')
      .getByText(/^whsec_/)
      .waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    // The newest one had a button, too, whose use was always refused.
    const revoke = page.getByRole('button', { name: /^Revoke whsec_/ });
    await revoke.waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await revoke.click();
    const revoked = page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await says(page, 'The secret is revoked.', revoked);
    await revoke.waitFor({ state: 'detached' });
  });

  // The page called them "Early entries" and "Late exits", and nobody found them by the names of the API and the guide.
  it('names settings as the API does', async () => {
    const page = await asOwner('/settings');
    const names = ['Stop detection', 'Buffer entries', 'Buffer exits', 'Restrict to operating hours', 'Dwell events'];
    for (const name of names) await page.getByRole('checkbox', { name }).waitFor();
    for (const name of ['iBeacon UUIDs', 'Eddystone UIDs']) await page.getByLabel(name).waitFor();
  });

  it('saves settings, of this environment only', async () => {
    const page = await asOwner('/settings');
    await page.getByRole('checkbox', { name: 'Dwell events' }).check();
    await page.getByLabel('Default threshold').fill('-1');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByRole('alert').filter({ hasText: 'Default threshold must' }).waitFor();
    await page.getByLabel('Default threshold').fill('15');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('The settings are saved.').waitFor();
    const settingsOf = async (key: 'test_secret' | 'live_secret') =>
      ok(await server.as(key).get('/v1/settings')).settings;
    expect(await settingsOf('test_secret')).toMatchObject({ dwellEvents: true, defaultDwellThreshold: 15 });
    expect(await settingsOf('live_secret')).toMatchObject({ dwellEvents: false });
  });

  // Both environments' settings are in one record of one revision, which alone identified the form. After Test, Live,
  // Test it showed Live's values under Test, and saved them there. Renaming the project, which is in that record
  // too, emptied what was typed; and after an invitation nothing could be saved.
  it('keeps settings apart from those of the other environment, and through other changes of the project', async () => {
    for (const key of ['test', 'live'] as const) {
      const body = { allowedOrigins: [`https://${key}-only.example`] };
      ok(await server.as(`${key}_secret`).send('PATCH', '/v1/settings', { body }));
    }
    const page = await asOwner('/settings');
    const origins = page.getByLabel('Allowed origins');
    await expect.poll(() => origins.inputValue()).toBe('https://test-only.example');
    await page.getByRole('radio', { name: 'Live' }).check();
    await expect.poll(() => origins.inputValue()).toBe('https://live-only.example');
    await page.getByRole('radio', { name: 'Test' }).check();
    await expect.poll(() => origins.inputValue()).toBe('https://test-only.example');

    await page.getByLabel('Default threshold').fill('25');
    await page.getByLabel('Name', { exact: true }).fill('Renamed');
    await says(page, 'The project is renamed.', page.getByRole('button', { name: 'Rename' }).click());
    await page.getByRole('button', { name: 'Project: Renamed' }).waitFor();
    expect(await page.getByLabel('Default threshold').inputValue()).toBe('25');
    // Another page changes the members, of which this one hears nothing.
    const members = await asOwner('/members');
    await members.getByLabel('Email').fill('grace@example.com');
    await members.getByRole('button', { name: 'Invite' }).click();
    await members.getByRole('button', { name: 'Withdraw the invitation of grace@example.com' }).click();
    await members.getByRole('region', { name: 'Invitations' }).waitFor({ state: 'detached' });
    await says(page, 'The settings are saved.', page.getByRole('button', { name: 'Save settings' }).click());
    expect(ok(await server.as('test_secret').get('/v1/settings')).settings).toMatchObject({
      defaultDwellThreshold: 25,
      allowedOrigins: ['https://test-only.example'],
    });
    for (const key of ['test_secret', 'live_secret'] as const) {
      ok(await server.as(key).send('PATCH', '/v1/settings', { body: { allowedOrigins: null } }));
    }
  });

  it('invites a member, and withdraws the invitation', async () => {
    const page = await asOwner('/members');
    await page.getByLabel('Email').fill('nobody');
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('alert').filter({ hasText: 'email' }).waitFor();
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('button', { name: 'Withdraw the invitation of ada@example.com' }).click();
    await page.getByRole('region', { name: 'Invitations' }).waitFor({ state: 'detached' });
  });

  // They stayed as old as they were when the page had read them.
  it('lets times in words grow older by themselves', async () => {
    const page = await asViewer('/start');
    await page.clock.install();
    await page.goto(`${server.address}/members`);
    await page.getByText(/^since (now|\d+ (second|minute)s? ago)$/).waitFor();
    await page.clock.fastForward('03:00:00');
    await page.getByText('since 3 hours ago').waitFor();
  });

  it('says that the server does not answer, and continues when it does', async () => {
    // The view asks every few seconds whether a location has come.
    const page = await asOwner('/start');
    await page.getByText('Watch the event arrive').waitFor();
    await page.context().setOffline(true);
    await page.getByText('The server does not answer').waitFor();
    await page.context().setOffline(false);
    await page.getByText('The server does not answer').waitFor({ state: 'detached' });

    // A view whose code does not come is shown later, too. While requests are routed, the browser's cache has none.
    await page.route('**/assets/keys-*', (route) => route.abort());
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByRole('heading', { name: 'This view is not loaded yet' }).waitFor();
    await page.unrouteAll();
    await page.context().setOffline(false);
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
  });

  it('gives the focus of its menu on narrow screens back to the button', async () => {
    const page = await asOwner('/keys', { viewport: { width: 360, height: 740 } });
    await page.getByRole('button', { name: 'Menu', exact: true }).press('Enter');
    await page.getByRole('dialog', { name: 'Menu' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Menu' }).waitFor({ state: 'detached' });
    await page.locator('.menu-button:focus').waitFor();
  });
});
