/** The view Live in Chromium: devices and events as they happen. */
import { describe, expect, it } from 'vitest';
import { ok } from '../../support/client.js';
import { at, circle, standing } from '../../support/places.js';
import { asOwner, isRunnable, seriousFindings, server, useDashboard } from './fixture.js';

useDashboard();

interface Breakable {
  breakStream(): void;
  mendStream(): void;
}

/** Lets a test cut the stream of the page, and keep it from being opened again. */
function breakableStream(): void {
  const original = globalThis.fetch;
  let cut = new AbortController();
  globalThis.fetch = (input, init) => {
    if (!String(input).includes('/v1/events/stream')) return original(input, init);
    const signals = [cut.signal, ...(init?.signal ? [init.signal] : [])];
    return original(input, { ...init, signal: AbortSignal.any(signals) });
  };
  const breakable: Breakable = {
    breakStream: () => cut.abort(),
    mendStream() {
      cut = new AbortController();
    },
  };
  Object.assign(globalThis, breakable);
}

/** Of a map with one device. */
const firstZoom = 15;

describe.runIf(isRunnable)('the view Live', () => {
  it('moves devices, shows rates, lag and each event once, also without a stream, and filters and pauses', async () => {
    const backend = server.as('test_secret');
    await backend.putGeofence('hall', { ...circle(0, 0, 100), description: 'Market hall' }, 'market');
    await backend.putGeofence('yard', { ...circle(0, 1_000, 100), description: 'Yard' }, 'depot');
    const enter = (deviceId: string, northM: number) => backend.track({ deviceId, ...standing(0, northM) });
    const page = await asOwner('/');
    await page.addInitScript(breakableStream);
    await page.goto(`${server.address}/live`);
    const list = page.getByRole('region', { name: 'Events', exact: true });
    await page.getByText('Connected').waitFor();
    await enter('van-1', 0);
    await list.getByRole('button', { name: 'Entered Market hall van-1' }).waitFor();
    await page.getByText('1 device', { exact: true }).waitFor();
    // The map shows all devices, so the only one is in its middle.
    const map = page.getByRole('region', { name: 'Map of devices' });
    const chosen = page.getByRole('region', { name: 'Chosen device' });
    await expect
      .poll(async () => {
        await map.click();
        return chosen.count();
      })
      .toBe(1);
    await chosen.getByRole('heading', { name: 'van-1' }).waitFor();
    await chosen.getByRole('button', { name: 'Close' }).click();
    // It moves by as many pixels as the map has for the way at its first zoom.
    const northM = 80;
    const metresPerPixel = (40_075_016 / (512 * 2 ** firstZoom)) * Math.cos((standing(0, 0).latitude * Math.PI) / 180);
    const { width, height } = (await map.boundingBox())!;
    await enter('van-1', northM);
    await expect
      .poll(async () => {
        await map.click({ position: { x: width / 2, y: height / 2 - northM / metresPerPixel } });
        return chosen.count();
      })
      .toBe(1);
    await chosen.getByRole('button', { name: 'Close' }).click();
    // What comes to the map draws no device again, and a move of the map does.
    const drawn = (change: string) =>
      page.evaluate<number>(`new Promise((resolve) => {
        const { map } = document.querySelector('.map-canvas');
        const canvas = document.querySelector('.map-dots').getContext('2d');
        let count = 0;
        canvas.clearRect = (...place) => {
          count += 1;
          CanvasRenderingContext2D.prototype.clearRect.apply(canvas, place);
        };
        map.once('render', () => setTimeout(() => resolve(count)));
        map.${change};
      })`);
    await expect.poll(() => drawn('triggerRepaint()')).toBe(0);
    expect(await drawn('panBy([8, 0], { duration: 0 })')).toBeGreaterThan(0);
    for (const lag of ['Location to event', 'Behind']) {
      await page
        .locator('.tile', { hasText: lag })
        .filter({ hasText: /\d m?s/ })
        .waitFor();
    }
    // A rate tells of half a minute, which a slow page may take to show it.
    const rate = page.locator('.tile', { hasText: 'Locations' });
    await expect
      .poll(async () => {
        await enter('van-1', northM);
        return rate.textContent();
      })
      .toMatch(/[1-9]/);

    // Without a stream, the page asks for events. Those of the time between arrive when it is open again.
    await page.evaluate(() => (globalThis as unknown as Breakable).breakStream());
    await page.getByText('Every 2 seconds').waitFor();
    await enter('van-2', 0);
    await list.getByRole('button', { name: 'Entered Market hall van-2' }).waitFor();
    await enter('van-3', 1_000);
    await page.evaluate(() => (globalThis as unknown as Breakable).mendStream());
    await page.getByText('Connected').waitFor();
    await list.getByRole('button', { name: 'Entered Yard van-3' }).waitFor();
    await list.getByText('3 events', { exact: true }).waitFor();

    await list.getByRole('searchbox', { name: 'Tag' }).fill('dep');
    await list.getByText('1 event', { exact: true }).waitFor();
    await list.getByRole('searchbox', { name: 'User or device' }).fill('van-2');
    await list.getByText('Nothing matches').waitFor();
    await list.getByRole('searchbox', { name: 'Tag' }).fill('');
    await page.getByRole('button', { name: 'Pause' }).click();
    await enter('van-2', 1_000);
    // The exit and the entry.
    await page.getByRole('button', { name: 'Continue (2 new)' }).click();
    // Each move causes an exit and an entry.
    const eventRate = page.locator('.tile').filter({ has: page.getByText('Events', { exact: true }) });
    let moves = 0;
    await expect
      .poll(async () => {
        moves += 1;
        await enter('van-4', (moves % 2) * 1_000);
        return eventRate.textContent();
      })
      .toMatch(/[1-9]/);
    // A device that came out of sight could only be looked for.
    const isInSight = (northM: number) =>
      page.evaluate<boolean>(
        `document.querySelector('.map-canvas').map.getBounds().contains(${JSON.stringify(at(0, northM))})`,
      );
    await enter('van-5', 40_000);
    await page.getByText('5 devices', { exact: true }).waitFor();
    expect(await isInSight(40_000)).toBe(false);
    await page.getByRole('button', { name: 'Show all' }).click();
    await expect.poll(async () => (await isInSight(40_000)) && (await isInSight(0))).toBe(true);
    await list.getByRole('combobox', { name: 'Type' }).selectOption('user.exited_geofence');
    await list.getByRole('button', { name: 'Left Market hall van-2' }).click();
    await page.getByRole('dialog', { name: 'Left Market hall' }).getByRole('link', { name: 'Why?' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  // The page drew the oldest thousand of all geofences: in a project with more, the map of a city could be empty.
  it('draws the geofences in sight, the largest of many, and begins with them without a device', async () => {
    const backend = server.as('live_secret');
    const many = 1_001;
    const farM = 200_000;
    const put = (geofences: object[]) => backend.send('POST', '/v1/geofences/batch', { body: { geofences } });
    const fence = (index: number, northM: number) => ({
      ...{ description: `Shop ${index}`, tag: 'shop', externalId: `shop-${index}` },
      ...circle(index, northM, 50),
    });
    const crowd = Array.from({ length: many }, (_, index) => fence(index, 0));
    ok(await put(crowd.slice(0, many - 1)));
    ok(await put([...crowd.slice(many - 1), fence(many, farM)]));

    const page = await asOwner('/live');
    await page.getByRole('radio', { name: 'Live', exact: true }).check();
    await page.getByText('0 devices; the 1,000 largest of 1,002 geofences in sight are drawn').waitFor();
    const drawnAt = (northM: number) =>
      page.evaluate<number>(`(async () => {
        const { map } = document.querySelector('.map-canvas[aria-busy=false]') ?? {};
        if (map === undefined) return -1;
        map.jumpTo({ center: ${JSON.stringify(at(0, northM))}, zoom: 13 });
        await map.once('idle');
        return new Set(map.queryRenderedFeatures({ layers: ['fence-fill'] }).map(({ id }) => id)).size;
      })()`);
    await expect.poll(() => drawnAt(farM)).toBe(1);
    await page.getByText('0 devices', { exact: true }).waitFor();
    await expect.poll(() => drawnAt(0)).toBeGreaterThan(100);
  });
});
