/** How the dashboard behaves while it loads, on a slow network, and under an impatient hand. */
import type { Locator, Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { until } from '../../../testing/until.js';
import { ok } from '../../support/client.js';
import { at, circle, standing } from '../../support/places.js';
import {
  asOwner,
  asViewer,
  isRunnable,
  newPage,
  open,
  overflowPx,
  says,
  send,
  server,
  useDashboard,
} from './fixture.js';

useDashboard();

const kib = 1024;
const views = ['/start', '/analytics', '/geofences', '/beacons', '/webhooks', '/static-maps', '/settings', '/members'];

/** Holds the requests that match, until they are let go. */
async function hold(page: Page, isHeld: (route: Route) => boolean, paths = '**/v1/**') {
  const held: Route[] = [];
  let isOpen = false;
  const urls: string[] = [];
  await page.route(paths, async (route) => {
    if (!isHeld(route)) return route.continue();
    urls.push(route.request().url());
    if (isOpen) return route.continue();
    held.push(route);
  });
  return {
    /** Returns how many requests have matched, held or not. */
    count: () => urls.length,
    urls,
    async letGo() {
      isOpen = true;
      for (const route of held) await route.continue();
    },
  };
}

/** Returns the compressed bytes that the page has loaded, and the workers' scripts with it. */
const loadedBytes = (page: Page) =>
  page.evaluate<number>(`[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`);

/** Delays each answer by half a second. */
async function addLatency(page: Page): Promise<void> {
  const client = await page.context().newCDPSession(page);
  const conditions = { offline: false, latency: 500, downloadThroughput: -1, uploadThroughput: -1 };
  await client.send('Network.emulateNetworkConditions', conditions);
}

/** Returns how far the layout has jumped, as browsers score it: 0.1 is good. */
const layoutShift = (page: Page) =>
  page.evaluate<number>(`new Promise((resolve) => {
    let sum = 0;
    new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) sum += value;
    }).observe({ type: 'layout-shift', buffered: true });
    // Buffered entries are delivered before the second frame.
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
  })`);

/** Returns the relative luminance of an element's background, as WCAG defines it, from 0 to 1. */
async function brightness(element: Locator): Promise<number> {
  const colour: string = await element.evaluate(
    (each) => each.ownerDocument.defaultView!.getComputedStyle(each).backgroundColor,
  );
  const [red, green, blue] = colour
    .match(/[\d.]+/g)!
    .map((value) => Number(value) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

const contrast = (one: number, other: number) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);

describe.runIf(isRunnable)('the quality of the dashboard', () => {
  it('loads less than 300 KiB before it can be used, and less than 1 MiB with the map', async () => {
    const entrance = await open('/');
    await entrance.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    expect(await loadedBytes(entrance)).toBeLessThan(300 * kib);
    const list = await asOwner('/geofences');
    await list.getByRole('heading', { name: 'Geofences', exact: true }).waitFor();
    await list.getByRole('heading', { name: 'No geofences yet' }).waitFor();
    expect(await loadedBytes(list)).toBeLessThan(300 * kib);
    const map = await asOwner('/map');
    await map.locator('canvas').first().waitFor();
    const bytes = await loadedBytes(map);
    expect(bytes).toBeGreaterThan(300 * kib);
    expect(bytes).toBeLessThan(1024 * kib);
  });

  it('asks for data after two round trips: of the page, and of all scripts of its view at once', async () => {
    const page = await asOwner('/keys');
    await page.getByRole('heading', { level: 1 }).waitFor();
    for (const view of ['/geofences', '/analytics', '/webhooks']) {
      const scripts = await hold(page, () => true, '**/assets/*.js');
      const calls = await hold(page, () => true);
      await page.goto(server.address + view, { waitUntil: 'commit' });
      await expect.poll(() => page.evaluate('document.readyState')).toBe('interactive');
      const named = await page.evaluate<number>(
        "new Set([...document.querySelectorAll('script, [rel=modulepreload]')].map(({ src, href }) => src || href)).size",
      );
      await expect.poll(scripts.count).toBe(named);
      await scripts.letGo();
      // The view does not wait until the server has said who is signed in.
      const isSession = (url: string) => url.endsWith('/v1/session');
      await expect.poll(() => calls.urls.some(isSession) && !calls.urls.every(isSession)).toBe(true);
      expect([view, scripts.count()]).toEqual([view, named]);
      await calls.letGo();
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    }
  });

  it('shows each view before its data arrive, and does not jump when they do', async () => {
    const page = await asOwner('/keys');
    await page.getByRole('heading', { level: 1 }).waitFor();
    for (const view of views) {
      const held = await hold(page, (route) => !route.request().url().endsWith('/v1/session'));
      await page.goto(server.address + view);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByRole('navigation', { name: 'Main' }).waitFor();
      await held.letGo();
      await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
      expect([view, (await layoutShift(page)) < 0.1]).toEqual([view, true]);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    }
  });

  it('shows its frame and the last picture of a map before its scripts, until the map is drawn', async () => {
    const keptPicture = (page: Page) => page.evaluate<string | null>("localStorage.getItem('fenceline.picture-map')");
    const page = await asOwner('/map');
    await expect.poll(() => keptPicture(page)).not.toBeNull();
    const place = await page.locator('.map-canvas').boundingBox();
    // The first script has only what the browser keeps.
    const scripts = await hold(page, (route) => !route.request().url().includes('/index-'), '**/assets/*.js');
    const maps = await hold(page, () => true, '**/maps/**');
    await page.goto(`${server.address}/map`, { waitUntil: 'commit' });
    await page.getByRole('status', { name: 'Loading' }).getByText('Fenceline').waitFor();
    const picture = page.locator('img.map-picture');
    await picture.waitFor();
    expect(await picture.boundingBox()).toEqual(place);
    expect(scripts.count()).toBeGreaterThan(0);
    await scripts.letGo();
    await page.locator('canvas').first().waitFor({ state: 'attached' });
    await expect.poll(maps.count).toBeGreaterThan(0);
    expect(await picture.isVisible()).toBe(true);
    await maps.letGo();
    await picture.waitFor({ state: 'detached' });
    await page.unrouteAll({ behavior: 'ignoreErrors' });

    await page.context().clearCookies();
    await page.goto(`${server.address}/map`);
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    await expect.poll(() => keptPicture(page)).toBeNull();
  });

  it('starts a map beside its code, asks again for a style, and draws no frame with a part of the layers', async () => {
    const page = await asOwner('/keys');
    await page.getByRole('heading', { level: 1 }).waitFor();
    const code = await hold(page, (route) => route.request().url().includes('map-pictures'), '**/assets/*.js');
    let asked = 0;
    let listen = () => {};
    const isListening = new Promise<void>((resolve) => {
      listen = resolve;
    });
    await page.route('**/maps/styles/**', async (route) => {
      asked += 1;
      if (asked !== 2) return route.continue();
      await isListening;
      // As of a server that has just started, and has no map yet.
      return route.fulfill({ status: 503 });
    });
    await page.goto(`${server.address}/live`);
    await expect.poll(code.count).toBeGreaterThan(0);
    await expect.poll(() => asked).toBe(1);
    await code.letGo();
    const hasMap = () => page.evaluate<boolean>("document.querySelector('.map-canvas')?.map !== undefined");
    await expect.poll(hasMap).toBe(true);
    await page.evaluate(`{
      const { map } = document.querySelector('.map-canvas');
      globalThis.layersOf = { frame: [], idle: [] };
      map.on('render', () => layersOf.frame.push(map.getLayersOrder().length));
      map.on('idle', () => layersOf.idle.push(map.getLayersOrder().length));
    }`);
    listen();
    await page.getByText('There is no map yet. The server says: it answered 503.').waitFor();
    await expect.poll(() => page.evaluate<number>('layersOf.idle.length')).toBeGreaterThan(0);
    const { frame, idle } = await page.evaluate<Record<'frame' | 'idle', number[]>>('layersOf');
    const all = frame.at(-1)!;
    expect(all).toBeGreaterThan(10);
    expect(new Set(idle)).toEqual(new Set([all]));
    expect(new Set(frame)).toEqual(new Set([0, all]));
    expect(asked).toBe(3);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  it('sends a change once, however often its button is pressed, and with half a second of latency', async () => {
    const page = await asOwner('/geofences');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await addLatency(page);
    await page.getByRole('link', { name: 'New geofence' }).first().click();
    await page.getByLabel('Description').fill('Pressed twice');
    await page.getByLabel('Tag').fill('twice');
    await page.getByLabel('External id').fill('one');
    await page.getByLabel('Latitude').fill('1');
    await page.getByLabel('Longitude').fill('1');
    const isChange = (route: Route) => route.request().method() !== 'GET';
    const geofence = await hold(page, isChange);
    await page.getByRole('button', { name: 'Create geofence' }).dblclick();
    await page.getByLabel('External id').press('Enter');
    // It is drawn in a task after the click, and stays until the request is let go.
    await expect.poll(() => page.getByRole('button', { name: 'Create geofence' }).isDisabled()).toBe(true);
    // Before it, the form asks whether the name is taken.
    await expect.poll(geofence.count).toBe(1);
    await geofence.letGo();
    await page.getByRole('link', { name: 'Pressed twice' }).waitFor();
    expect(geofence.count()).toBe(1);

    await page.goto(`${server.address}/webhooks`);
    await page.getByRole('button', { name: 'New webhook' }).first().click();
    await page.getByLabel('URL').fill('https://receiver.invalid/');
    const webhook = await hold(page, isChange);
    await page.getByRole('button', { name: 'Create webhook' }).dblclick();
    await page.getByLabel('URL').press('Enter');
    await expect.poll(webhook.count).toBe(1);
    await webhook.letGo();
    await page.getByText(/^whsec_/).waitFor();
    expect(webhook.count()).toBe(1);

    // The second press sent a later range. It was refused, and the page did not show the first one.
    await page.goto(`${server.address}/what-if`);
    await page.getByLabel('Latitude').fill('1');
    await page.getByLabel('Longitude').fill('1');
    const replay = await hold(page, isChange);
    await page.getByRole('button', { name: 'Run', exact: true }).dblclick();
    await expect.poll(replay.count).toBe(1);
    await replay.letGo();
    await page.getByRole('region', { name: 'Events of the replay' }).waitFor();
    expect(replay.count()).toBe(1);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  // The third choice was taken for a second press of the first one, so the second one counted.
  it('sends the roles of a member one after the other, and the last one counts', async () => {
    const viewer = await asViewer('/start');
    await viewer.close();
    const page = await asOwner('/members');
    const role = page.getByLabel(/^Role of viewer-/);
    await role.waitFor();
    const puts = await hold(page, (route) => route.request().method() === 'PUT');
    for (const choice of ['owner', 'viewer', 'owner']) await role.selectOption(choice);
    await expect.poll(puts.count).toBe(1);
    await puts.letGo();
    await expect.poll(puts.count).toBe(3);
    await page.unrouteAll({ behavior: 'wait' });
    await page.reload();
    await expect.poll(() => role.inputValue()).toBe('owner');
  });

  // Only the refusal of the last choice was shown, and none after another view was opened.
  it('says why a choice was refused, though another one followed it or its view was left', async () => {
    const viewer = await asViewer('/start');
    await viewer.close();
    const page = await asOwner('/members');
    const role = page.getByLabel(/^Role of viewer-/).first();
    const now = await role.inputValue();
    const other = now === 'owner' ? 'viewer' : 'owner';
    const refusal = page.getByText('These were too many requests.');
    async function refuseNext(): Promise<() => void> {
      let refuse = (): void => {};
      const isDue = new Promise<void>((resolve) => {
        refuse = resolve;
      });
      await page.route('**/v1/members/*', (route) => isDue.then(() => route.fulfill({ status: 429, body: '' })), {
        times: 1,
      });
      return refuse;
    }

    const refuse = await refuseNext();
    await role.selectOption(other);
    await role.selectOption(now);
    refuse();
    await refusal.waitFor();

    await page.getByRole('button', { name: 'Dismiss' }).click();
    await refusal.waitFor({ state: 'detached' });
    const refuseLater = await refuseNext();
    await role.selectOption(other);
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    refuseLater();
    await refusal.waitFor();
  });

  // What was selected had to be selected again, and nothing said how many records were changed before the refusal.
  it('keeps the selection whose change was refused', async () => {
    const backend = server.as('test_secret');
    for (const externalId of ['one', 'two']) await backend.putGeofence(externalId, circle(0, 0, 100), 'refused');
    const page = await asOwner('/geofences?tag=refused');
    await page.getByRole('checkbox', { name: 'Select one' }).check();
    await page.route('**/v1/geofences/bulk', (route) => route.fulfill({ status: 429, body: '' }), { times: 1 });
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('These were too many requests.').waitFor();
    await page.getByText('1 selected').waitFor();
    await says(page, '1 record is disabled.', page.getByRole('button', { name: 'Disable' }).click());
    await page.getByText('1 selected').waitFor({ state: 'detached' });
    expect(ok(await backend.get('/v1/geofences/refused/one')).geofence.enabled).toBe(false);
  });

  // Escape closed the dialog of a new webhook before the answer, whose secret is shown only once. The answer to an
  // invitation removed the address that was typed meanwhile.
  it('keeps a dialog until its answer has come, and what is typed meanwhile', async () => {
    const page = await asOwner('/webhooks');
    await page.getByRole('button', { name: 'New webhook' }).first().click();
    const url = page.getByRole('dialog').getByLabel('URL');
    await url.fill('https://receiver.invalid/');
    const isChange = (route: Route) => route.request().method() !== 'GET';
    const webhook = await hold(page, isChange);
    await url.press('Enter');
    await expect.poll(webhook.count).toBe(1);
    // The dialog is busy, and its disabled field has lost the focus.
    await expect.poll(() => page.evaluate('document.activeElement === document.body')).toBe(true);
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').isVisible()).toBe(true);
    await webhook.letGo();
    await page.getByText(/^whsec_/).waitFor();

    await page.goto(`${server.address}/members`);
    await page.getByLabel('Email').fill('first@example.com');
    const invitation = await hold(page, isChange);
    await page.getByLabel('Email').press('Enter');
    await expect.poll(invitation.count).toBe(1);
    await page.getByLabel('Email').fill('second@example.com');
    await invitation.letGo();
    await page.getByText('The invitation to first@example.com is in the outbox folder.').waitFor();
    expect(await page.getByLabel('Email').inputValue()).toBe('second@example.com');
  });

  // Spinners turned and placeholders pulsed: the rule that stops them stood before the one that moves them.
  it('moves nothing while it loads, for those who ask for less motion', async () => {
    const page = await asOwner('/keys');
    await page.getByRole('heading', { level: 1 }).waitFor();
    const held = await hold(page, (route) => !route.request().url().endsWith('/v1/session'));
    const moving = () => page.evaluate<number>('document.getAnimations().length');
    for (const [reducedMotion, isMoving] of [
      ['no-preference', true],
      ['reduce', false],
    ] as const) {
      await page.emulateMedia({ reducedMotion });
      await page.goto(`${server.address}/analytics`);
      await page.locator('.skeleton').first().waitFor();
      expect([reducedMotion, (await moving()) > 0]).toEqual([reducedMotion, isMoving]);
    }
    await held.letGo();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  // The placeholders of a view began at the edge of the screen.
  it('shows a view that is still loaded where it will be', async () => {
    const page = await asOwner('/keys');
    await page.getByRole('heading', { level: 1 }).waitFor();
    const skeletons = page.locator('main .skeleton');
    // Those of the view before would be measured.
    await expect.poll(() => skeletons.count()).toBe(0);
    const code = await hold(page, () => true, '**/assets/users-*');
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Users' }).click();
    await expect.poll(code.count).toBeGreaterThan(0);
    await skeletons.first().waitFor();
    const loading = await skeletons.first().boundingBox();
    const main = await page.getByRole('main').boundingBox();
    expect(loading!.x - main!.x).toBeGreaterThan(20);
    expect(loading!.y - main!.y).toBeGreaterThan(20);
    await code.letGo();
    await page.getByRole('heading', { name: 'Users' }).waitFor();
  });

  it('raises what is chosen, sinks what is disabled, and marks where the keyboard is, in both themes', async () => {
    const { _id } = await server.as('test_secret').putGeofence('shades', circle(0, 0, 100), 'shades');
    const page = await asOwner('/');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(`${server.address}/geofences/${_id}`);
      await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
      const shapes = page.locator('.card .segments');
      await shapes.waitFor();
      const track = await brightness(shapes);
      const chosen = await brightness(shapes.locator('input:checked + span'));
      expect([colorScheme, 'chosen', chosen > track && contrast(chosen, track) > 1.1]).toEqual([
        ...[colorScheme, 'chosen', true],
      ]);
      const disabled = await brightness(page.getByLabel('External id'));
      const editable = await brightness(page.getByLabel('Description'));
      expect([colorScheme, 'disabled', disabled < editable]).toEqual([colorScheme, 'disabled', true]);
      await page.getByRole('button', { name: 'Account and appearance' }).click();
      const menu = page.getByRole('menu');
      // Its code is loaded when it is opened.
      await menu.waitFor();
      await page.keyboard.press('ArrowDown');
      const pointed = await brightness(menu.locator('[data-highlighted]'));
      expect([colorScheme, 'pointed', contrast(pointed, await brightness(menu)) > 1.1]).toEqual([
        ...[colorScheme, 'pointed', true],
      ]);
      await page.keyboard.press('Escape');
    }
  });

  // All choices looked the same, so nothing said whether Test or Live was changed.
  it('marks what is chosen with the colours of high contrast', async () => {
    const created = await server.as('test_secret').post('/v1/webhooks', { url: 'https://receiver.invalid/events' });
    const page = await asOwner(`/webhooks/${ok(created).webhook._id}`);
    await page.emulateMedia({ forcedColors: 'active' });
    const tab = page.locator('.tab').first();
    await tab.waitFor();
    const [chosenTab, otherTab] = [await brightness(tab), await brightness(page.locator('.tab').last())];
    expect(contrast(chosenTab, otherTab)).toBeGreaterThan(1.5);
    await page.goto(`${server.address}/analytics`);
    await page.getByRole('radio', { name: '7 days' }).waitFor();
    for (const [chosen, other] of [
      ['.environment input:checked + span', '.environment input:not(:checked) + span'],
      ['.analytics-tools input:checked + span', '.analytics-tools input:not(:checked) + span'],
      ['.nav-link[aria-current]', '.nav-link:not([aria-current])'],
    ] as const) {
      const [one, two] = [
        await brightness(page.locator(chosen).first()),
        await brightness(page.locator(other).first()),
      ];
      expect([chosen, contrast(one, two) > 1.5]).toEqual([chosen, true]);
    }
  });

  it('cuts neither a time nor a form with a long name, at 360 px too', async () => {
    const description = 'A geofence with a name that is longer than the form beside the map is wide';
    const operatingHours = { Mon: [['10:30', '22:45']] };
    const { _id } = await server
      .as('test_secret')
      .putGeofence('long', { ...circle(0, 0, 100), description, operatingHours }, 'long');
    for (const width of [1280, 360]) {
      const page = await asOwner('/', { viewport: { width, height: 800 } });
      for (const path of [`/geofences/${_id}`, `/map?geofence=${_id}`]) {
        await page.goto(server.address + path);
        const times = page.locator('input[type=time]');
        await times.first().waitFor();
        const missingPx = await times.evaluateAll((all) =>
          all.map((each) => {
            const whole = each.cloneNode() as typeof each;
            whole.style.width = 'max-content';
            each.after(whole);
            const missing = whole.getBoundingClientRect().width - each.getBoundingClientRect().width;
            whole.remove();
            return missing;
          }),
        );
        expect([width, path, missingPx.every((missing) => missing <= 0)]).toEqual([width, path, true]);
        const outside = await page.locator('main form').evaluate(({ parentElement: place, ownerDocument }) => {
          const { innerWidth } = ownerDocument.defaultView!;
          return [...place!.querySelectorAll('*')].filter((each) => each.getBoundingClientRect().right > innerWidth)
            .length;
        });
        expect([width, path, outside]).toEqual([width, path, 0]);
      }
      await page.close();
    }
  });

  // The buttons of a form stay at its lower end, and lay over the field that Tab had led to.
  it('shows each field of a form that the keyboard comes to', async () => {
    const page = await asOwner('/geofences/new', { viewport: { width: 1280, height: 600 } });
    await page.getByLabel('Description').focus();
    /** Returns how far the buttons of the form cover what has the focus; undefined: it is one of them. */
    const coveredPx = () =>
      page.locator(':focus').evaluate((element) => {
        const actions = element.ownerDocument.querySelector('.form-actions');
        if (!actions || actions.contains(element)) return undefined;
        return Math.max(0, element.getBoundingClientRect().bottom - actions.getBoundingClientRect().top);
      });
    const covered: number[] = [];
    for (let px = await coveredPx(); px !== undefined; px = await coveredPx()) {
      covered.push(px);
      await page.keyboard.press('Tab');
    }
    expect(covered.length).toBeGreaterThan(10);
    expect(covered.filter((px) => px > 0)).toEqual([]);
  });

  // Text for screen readers was placed in the document, beyond the view that scrolls. So the document scrolled as well,
  // and a refused form pushed the header out of the window.
  it('scrolls a view and never its frame, also with letters of twice the size', async () => {
    const page = await asOwner('/', { viewport: { width: 640, height: 400 } });
    for (const path of ['/geofences/new', '/start', '/analytics', '/static-maps']) {
      await page.goto(server.address + path);
      await page.getByRole('main').getByRole('heading', { level: 2 }).first().waitFor();
      const beyondPx = await page.evaluate<number>(
        'document.documentElement.scrollHeight - document.documentElement.clientHeight',
      );
      expect([path, beyondPx]).toEqual([path, 0]);
    }
  });

  // The buttons of a form took a third of a window that is enlarged to 400 %.
  it('leaves a low window to the fields of a form, and begins a long dialog at its top', async () => {
    const page = await asOwner('/geofences/new', { viewport: { width: 320, height: 256 } });
    const create = page.getByRole('button', { name: 'Create geofence' });
    await create.waitFor();
    expect((await create.boundingBox())!.y).toBeGreaterThan(256);

    // The focus was on a button of the foot, so the dialog opened at its end.
    await page.goto(`${server.address}/imports`);
    await page.getByRole('button', { name: 'File format' }).click();
    await page.getByRole('dialog').waitFor();
    const heading = page.getByRole('heading', { name: 'Files of geofences' });
    await expect.poll(async () => (await heading.boundingBox())!.y > 0).toBe(true);

    // The buttons took what the sheet leaves to the fields.
    await page.setViewportSize({ width: 640, height: 400 });
    await page.goto(`${server.address}/map`);
    await page.locator('.map-canvas[aria-busy=false]').waitFor();
    await page.getByRole('button', { name: 'Draw a circle' }).click();
    const field = page.getByRole('textbox', { name: 'Description' });
    await field.waitFor();
    const { y, height } = (await field.boundingBox())!;
    expect(y + height < (await create.boundingBox())!.y).toBe(true);
  });

  // "Entered" and a name in Arabic were one text from the left, which cut the beginning of the name.
  it('reads a name from its own side, also in a list of events', async () => {
    const description = 'متجر الأزياء الراقية في وسط المدينة القديمة والجديدة';
    await server.as('test_secret').putGeofence('fashion', { ...circle(0, 7_000, 100), description });
    const { user } = await server.as('test_secret').track({ deviceId: 'buyer', ...standing(0, 7_000) });
    const stored = async (path: string, list: string) =>
      (await server.as('test_secret').get(path)).body[list]?.length > 0;
    // The timeline is loaded once, and shows what is stored by then.
    await until(() => stored(`/v1/users/${user._id}/locations`, 'locations'));
    await until(() => stored(`/v1/events?user=${user._id}`, 'events'));
    const page = await asOwner(`/users/${user._id}`);
    const name = page.locator('.event-row').getByText(description, { exact: true });
    await name.waitFor();
    expect(await name.evaluate((each) => each.ownerDocument.defaultView!.getComputedStyle(each).direction)).toBe('rtl');
    await page.getByRole('button', { name: `Entered ${description}` }).waitFor();
  });

  // A name in Arabic lost its beginning where it was cut.
  it('reads a name from its own side', async () => {
    const page = await newPage();
    const name = 'متجر الأزياء الراقية في وسط المدينة القديمة والجديدة';
    const email = `right-${Date.now()}@example.com`;
    await send(page.context(), '/v1/signup', { email, password: 'a good long password', project: name });
    await page.goto(`${server.address}/account`);
    const directions = () =>
      page
        .getByText(name, { exact: true })
        .evaluateAll((all) => all.map((each) => each.ownerDocument.defaultView!.getComputedStyle(each).direction));
    await page.getByRole('button', { name: `Project: ${name}` }).click();
    await page.getByRole('menuitemradio').waitFor();
    expect(await directions()).toEqual(['rtl', 'rtl', 'rtl']);
  });

  // The number of "2 minutes ago" was on the other side of a name in Arabic.
  it('keeps a time together after a name from the right', async () => {
    const backend = server.as('live_secret');
    await backend.putGeofence('souk', { ...circle(0, 0, 100), description: 'متجر' });
    const updatedAt = new Date(Date.now() - 120_000).toISOString();
    await backend.track({ deviceId: 'phone', ...standing(0, 0), updatedAt });
    const page = await asOwner(`/start?project=${server.project}&environment=live`);
    const time = page.getByRole('main').getByRole('time').filter({ hasText: 'minutes ago' });
    await time.waitFor();
    expect(await time.evaluate((each) => each.getClientRects().length)).toBe(1);
  });

  // The place of a map was lower than the map, so the buttons at its lower end were cut.
  it('cuts no button of a map in a low window', async () => {
    const { user } = await server.as('test_secret').track({ deviceId: 'low', ...standing(0, 0) });
    const page = await asOwner('/', { viewport: { width: 720, height: 450 } });
    for (const path of ['/what-if', '/live', `/users/${user._id}`]) {
      await page.goto(server.address + path);
      const lowest = page.locator('.maplibregl-ctrl-compass');
      await lowest.waitFor();
      const [button, map] = [await lowest.boundingBox(), await page.locator('.map-frame').locator('..').boundingBox()];
      expect([path, button!.y + button!.height < map!.y + map!.height]).toEqual([path, true]);
    }
  });

  // The question before a deletion had its buttons beside the screen, and the page scrolled sideways.
  it('keeps names without a space within the screen: in headings, questions, tables and charts', async () => {
    const backend = server.as('test_secret');
    const description = 'Description'.repeat(18);
    const tag = 'tag'.repeat(21);
    const { _id: geofence } = await backend.putGeofence('x'.repeat(128), { ...circle(0, 0, 100), description }, tag);
    await backend.putGeofence('beside', circle(0, 0, 100), 'another');
    const signal = { type: 'ibeacon', uuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e', major: '1', minor: '2' };
    const coordinates = at(0, 0);
    const { _id: beacon } = await backend.putBeacon('y'.repeat(128), { ...signal, coordinates, description }, tag);
    const url = `https://receiver.invalid/${'path/'.repeat(60)}`;
    const { webhook } = ok(await backend.post('/v1/webhooks', { url, description }));
    const userId = 'u'.repeat(128);
    const { user } = await backend.track({ deviceId: 'd'.repeat(100), userId, description, ...standing(0, 0) });
    await until(async () => (await backend.get(`/v1/users/${user._id}`)).status === 200);
    const entries = async () => ok(await backend.get('/v1/analytics/entries?groupBy=tag')).rows.length;
    await until(async () => (await entries()) > 1);

    const page = await asOwner('/');
    const details = [`/geofences/${geofence}`, `/beacons/${beacon}`, `/webhooks/${webhook._id}`, `/users/${user._id}`];
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      for (const path of [...details, '/users', '/analytics', '/start']) {
        await page.goto(server.address + path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        // Panels of analytics that are out of sight stay as they are.
        if (path === '/analytics') await page.locator('.chart-keys').first().waitFor();
        else await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
        expect([width, path, await overflowPx(page)]).toEqual([width, path, 0]);
        if (path === '/analytics') {
          // A name was cut without a sign of it, because a button is a box of its own.
          await page.getByRole('region', { name: 'Inside now' }).scrollIntoViewIfNeeded();
          const name = page.getByRole('list', { name: 'Devices inside, by place' }).getByRole('button').first();
          const cutPx = await name.evaluate((each) => {
            const [box, place] = [each, each.closest('li')!].map((part) => part.getBoundingClientRect());
            return Math.max(0, box!.right - place!.right);
          });
          expect([width, 'inside now', cutPx]).toEqual([width, 'inside now', 0]);
        }
        const question = page.getByRole('button', { name: /^(Delete|Erase user)$/ });
        if ((await question.count()) === 0) continue;
        await question.click();
        const beside = await page.getByRole('dialog').evaluate((each) => each.scrollWidth - each.clientWidth);
        expect([width, path, 'question', beside]).toEqual([width, path, 'question', 0]);
      }
    }
  });

  // "0 devices" was there until the answer, which is a claim.
  it('counts devices when it knows them, and says until then that it loads them', async () => {
    const page = await asOwner('/keys');
    const positions = await hold(page, () => true, '**/v1/positions*');
    await page.goto(`${server.address}/live`);
    await page.getByText('Loading devices').waitFor();
    const count = page.getByText(/^\d+ devices?$/);
    expect(await count.count()).toBe(0);
    await positions.letGo();
    await count.waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  // It had neither a first heading nor a title.
  it('names a page that does not exist in its heading and in its title', async () => {
    const page = await asOwner('/geofence');
    await page.getByRole('heading', { level: 1, name: 'There is no such page' }).waitFor();
    expect(await page.title()).toMatch(/^There is no such page · .+, Test · Fenceline$/);
    await page.getByRole('main').getByRole('link', { name: 'To the start' }).click();
    await page.getByRole('heading', { level: 1, name: /^(Geofences|Getting started)$/ }).waitFor();
  });

  // The problem stood alone, so only another load of the page tried again, and nothing said what had failed.
  // It showed a spinner for as long as the server refused.
  it('says in Live why there are no devices', async () => {
    const page = await asOwner('/keys');
    await page.route('**/v1/positions?*', (route) => route.fulfill({ status: 429, body: '' }));
    await page.getByRole('link', { name: 'Live' }).click();
    await page.getByText('The devices could not be loaded. These were too many requests.').waitFor();
    await page.getByText('No devices are loaded', { exact: true }).waitFor();
    // The line of the last minutes took the unit's width.
    await page.setViewportSize({ width: 1024, height: 768 });
    const unit = page.getByText('/s', { exact: true }).first();
    expect(await unit.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await page.unroute('**/v1/positions?*');
    await page.getByText(/^\d+ devices?$/).waitFor();
    expect(await page.getByText('The devices could not be loaded.').count()).toBe(0);
  });

  // A list that could not be loaded said that nothing was changed.
  it('speaks of changes only after a change, and of a problem only where it was met', async () => {
    const page = await asOwner('/keys');
    const message = 'the key was not replaced';
    await page.route('**/keys/rotate', (route) =>
      route.fulfill({ status: 409, json: { meta: { code: 409, message } } }),
    );
    const dialog = page.getByRole('dialog');
    const problem = dialog.getByText('The key was not replaced.', { exact: true });
    await page.getByRole('button', { name: 'Replace the publishable key' }).click();
    await dialog.getByRole('button', { name: 'Replace key' }).click();
    await problem.waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    // The question about the other key showed it at once.
    await page.getByRole('button', { name: 'Replace the secret key' }).click();
    await dialog.getByText('is refused from the moment of replacement').waitFor();
    expect(await problem.count()).toBe(0);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.route('**/v1/webhooks?*', (route) => route.abort());
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByText('This could not be loaded. The server did not answer.', { exact: true }).waitFor();
  });

  it('offers to load again what could not be loaded, and says the same of all records that do not exist', async () => {
    const page = await asOwner('/keys');
    await page.getByRole('heading', { level: 1 }).waitFor();
    const failing = [
      // Getting started asked for a first geofence, and what-if showed a map without any.
      ...views.filter((view) => view !== '/static-maps'),
      '/users',
      '/keys',
      '/imports',
      '/what-if',
    ];
    for (const view of failing) {
      let isFailing = true;
      await page.route('**/v1/**', (route) => {
        if (!isFailing || route.request().url().endsWith('/v1/session')) return route.continue();
        return route.fulfill({ status: 429, json: { meta: { code: 429, type: 'rate_limited', message: 'wait' } } });
      });
      await page.goto(server.address + view);
      const alert = page.getByRole('alert').filter({ hasText: 'This could not be loaded. wait' }).first();
      await alert.waitFor();
      expect([view, await overflowPx(page)]).toEqual([view, 0]);
      isFailing = false;
      await alert.getByRole('button', { name: 'Try again' }).click();
      // Each panel of analytics was asked again by its own button, or by its refresh after a minute.
      await alert.waitFor({ state: 'detached', timeout: 30_000 });
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    }
    for (const kind of ['geofence', 'beacon', 'webhook', 'user', 'import']) {
      await page.goto(`${server.address}/${kind}s/000000000000000000000000`);
      await page.getByRole('heading', { name: `This ${kind} does not exist` }).waitFor();
    }
  });
});
