/** The map of the dashboard in Chromium: shapes are drawn, edited, undone and saved, and places are found. */
import type { Page, Route } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../support/client.js';
import { at, circle, square } from '../../support/places.js';
import { asOwner, asViewer, isRunnable, says, seriousFindings, server, useDashboard } from './fixture.js';

useDashboard();

/** The tests' place: the centre of `places.ts`, 1 km to a side. */
const [longitude, latitude] = at(0, 0);
const here = `at=${latitude.toFixed(5)},${longitude.toFixed(5)},15`;

type Point = readonly [x: number, y: number];

/** Opens the map as the owner. */
const openMap = async (query = here, options = {}) => loaded(await asOwner(`/map?${query}`, options));

/** Returns the page when its map can be drawn on. */
async function loaded(page: Page): Promise<Page> {
  await page.getByText(/^\d+ geofences?, \d+ beacons?$/).waitFor();
  await drawn(page);
  return page;
}

/** Waits until the map shows what the page knows. A click before would find nothing. */
async function drawn(page: Page): Promise<void> {
  // The page hands its places to the map after it has painted their number.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  await page.locator('.map-canvas[aria-busy=false]').waitFor();
}

/** Returns pixels of the page by pixels from the centre of the map, once the map has its place beside the form. */
async function onMap(page: Page): Promise<(point: Point) => Point> {
  await expect
    .poll(() =>
      page
        .locator('.map-canvas canvas')
        .evaluate((canvas) => canvas.clientWidth - canvas.parentElement!.parentElement!.clientWidth),
    )
    .toBe(0);
  // The form comes with the code that draws.
  await page.locator('.map-page:not(.has-side), .map-page:has(.map-side)').waitFor();
  await drawn(page);
  const box = await page.locator('.map-canvas').boundingBox();
  return ([x, y]) => [box!.x + Math.round(box!.width / 2) + x, box!.y + Math.round(box!.height / 2) + y];
}

async function pull(page: Page, from: Point, to: Point): Promise<void> {
  await page.mouse.move(...from);
  await page.mouse.down();
  await page.mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2, { steps: 3 });
  await page.mouse.move(...to, { steps: 3 });
  await page.mouse.up();
}

async function name(page: Page, description: string, externalId: string): Promise<void> {
  await page.getByLabel('Description', { exact: true }).fill(description);
  await page.getByLabel('Tag', { exact: true }).fill('drawn');
  await page.getByLabel('External id', { exact: true }).fill(externalId);
}

const stored = async (externalId: string) =>
  ok(await server.as('test_secret').get(`/v1/geofences/drawn/${externalId}`)).geofence;

/** Lets the graphics processor seem to need this long for each frame. */
function slowFrames(): void {
  const frameMs = 80;
  const { prototype } = (
    globalThis as unknown as {
      WebGL2RenderingContext: {
        prototype: { fenceSync(...given: unknown[]): object; getSyncParameter(...given: unknown[]): unknown };
      };
    }
  ).WebGL2RenderingContext;
  const { fenceSync, getSyncParameter } = prototype;
  const startedMs = new WeakMap<object, number>();
  prototype.fenceSync = function (...given) {
    const frame = fenceSync.apply(this, given);
    startedMs.set(frame, performance.now());
    return frame;
  };
  prototype.getSyncParameter = function (frame, ...given) {
    const isDone = performance.now() - (startedMs.get(frame as object) ?? 0) > frameMs;
    return isDone ? getSyncParameter.call(this, frame, ...given) : undefined;
  };
}

interface Links {
  /** Programs that were linked, those that drew, and questions for a link in the task that has begun it. */
  readonly links: { readonly linked: Set<object>; readonly drew: Set<object>; waits: number };
}

/** Counts the programs of the map, and how often the page would wait for one. */
function countLinks(): void {
  type Method = (...given: unknown[]) => unknown;
  const { prototype } = (globalThis as unknown as { WebGL2RenderingContext: { prototype: Record<string, Method> } })
    .WebGL2RenderingContext;
  const { linkProgram, getProgramParameter, useProgram } = prototype as Record<string, Method>;
  const links: Links['links'] = { linked: new Set(), drew: new Set(), waits: 0 };
  const begun = new Set<unknown>();
  const linkStatus = 0x8b82;
  Object.assign(globalThis, { links });
  Object.assign(prototype, {
    linkProgram(this: unknown, program: object) {
      links.linked.add(program);
      begun.add(program);
      setTimeout(() => begun.delete(program));
      return linkProgram!.call(this, program);
    },
    getProgramParameter(this: unknown, program: object, name: number) {
      if (name === linkStatus && begun.has(program)) links.waits += 1;
      return getProgramParameter!.call(this, program, name);
    },
    useProgram(this: unknown, program: object | null) {
      if (program) links.drew.add(program);
      return useProgram!.call(this, program);
    },
  });
}

describe.runIf(isRunnable)('the map', () => {
  beforeAll(async () => {
    const backend = server.as('test_secret');
    await backend.putGeofence('hall', { ...circle(0, 0, 150), description: 'Market hall' }, 'drawn');
    await backend.putGeofence('yard', { ...square(600, 0, 100), description: 'Yard' }, 'drawn');
  });

  it('draws a circle by dragging and typing, with undo and redo, and saves it without loading the others', async () => {
    const page = await openMap();
    await page.getByRole('button', { name: 'Draw a circle' }).click();
    const point = await onMap(page);
    const radius = page.getByLabel('Radius');
    await pull(page, point([0, 0]), point([120, 0]));
    const pulled = Number(await radius.inputValue());
    expect(pulled).toBeGreaterThan(50);
    await radius.fill('345');
    // Letters of one field are one step.
    await page.keyboard.press('Control+z');
    expect(Number(await radius.inputValue())).toBe(pulled);
    await page.keyboard.press('Control+z');
    expect(await page.getByLabel('Latitude').inputValue()).toBe('');
    await page.getByRole('button', { name: 'Redo' }).click();
    await page.keyboard.press('Control+Shift+z');
    expect(await radius.inputValue()).toBe('345');

    await radius.fill('5');
    await name(page, 'Pulled circle', 'circle');
    await page.getByRole('button', { name: 'Create geofence' }).click();
    await page.getByRole('alert').filter({ hasText: 'radius' }).waitFor();
    await radius.fill('300');
    const lists: string[] = [];
    page.on('request', (request) => {
      if (/\/v1\/\w+\/outlines/.test(request.url())) lists.push(request.url());
    });
    await says(page, 'Pulled circle is saved.', page.getByRole('button', { name: 'Create geofence' }).click());
    await page.getByText('3 geofences, 0 beacons').waitFor();
    const saved = await stored('circle');
    expect(saved).toMatchObject({ type: 'circle', geometryRadius: 300 });
    expect(saved.geometryCenter.coordinates[0]).toBeCloseTo(longitude, 3);
    expect(lists).toEqual([]);
    expect(await seriousFindings(page)).toEqual([]);
  });

  // The editor of the first tool took the listener of the second one with it, and the first click closed the drawing.
  it('takes clicks after another tool was chosen', async () => {
    const page = await openMap();
    await page.getByRole('button', { name: 'Draw a circle' }).click();
    // A pull that ended outside the map went on with the pointer.
    const centre = await onMap(page);
    const radius = page.getByLabel('Radius');
    await page.mouse.move(...centre([0, 0]));
    await page.mouse.down();
    await page.mouse.move(...centre([-120, 0]), { steps: 3 });
    await page.mouse.move(20, 400);
    await page.mouse.up();
    const pulled = Number(await radius.inputValue());
    expect(pulled).toBeGreaterThan(100);
    await page.mouse.move(...centre([60, 0]), { steps: 3 });
    expect(Number(await radius.inputValue())).toBe(pulled);
    await page.keyboard.press('Control+z');
    expect(await page.getByLabel('Latitude').inputValue()).toBe('');
    await page.getByRole('button', { name: 'Draw a polygon' }).click();
    const point = await onMap(page);
    await page.mouse.click(...point([0, 0]));
    const points = page.getByLabel('Points');
    await expect.poll(() => points.inputValue()).toMatch(/^-?[\d.]+, -?[\d.]+$/);
    // Backspace takes back a point, and undid what had been typed since. The search has its own text to undo.
    const description = page.getByLabel('Description', { exact: true });
    await description.fill('Typed');
    await page.getByRole('combobox', { name: /^Search/ }).fill('Paris');
    await page.keyboard.press('Control+z');
    expect(await description.inputValue()).toBe('Typed');
    await page.locator('.map-canvas canvas').first().focus();
    await page.keyboard.press('Backspace');
    expect([await points.inputValue(), await description.inputValue()]).toEqual(['', 'Typed']);
  });

  it('draws a polygon by points, moves and removes them, and shows where it crosses itself', async () => {
    const page = await openMap();
    await page.getByRole('button', { name: 'Draw a polygon' }).click();
    const point = await onMap(page);
    const points = page.getByLabel('Points');
    const count = async () => (await points.inputValue()).split('\n').filter(Boolean).length;
    const corners: Point[] = [
      [-100, -100],
      [100, -100],
      [100, 100],
      [-100, 100],
    ];
    for (const [index, corner] of corners.entries()) {
      await page.mouse.click(...point(corner));
      await expect.poll(count).toBe(index + 1);
    }
    await page.keyboard.press('Control+z');
    await expect.poll(count).toBe(3);
    await page.keyboard.press('Control+Shift+z');
    await expect.poll(count).toBe(4);
    await page.mouse.click(...point(corners[0]!));
    await page.getByText('Pull points to move them').waitFor();
    const square = await points.inputValue();

    await pull(page, point([100, 100]), point([-100, -200]));
    await page.getByText('The outline crosses itself').waitFor();
    await name(page, 'Drawn polygon', 'polygon');
    await page.getByRole('button', { name: 'Create geofence' }).click();
    await page.getByRole('alert').filter({ hasText: 'Points must not cross' }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    expect(await points.inputValue()).toBe(square);
    await page.mouse.click(...point([100, 100]), { button: 'right' });
    await expect.poll(count).toBe(3);
    await name(page, 'Drawn polygon', 'polygon');
    await says(page, 'Drawn polygon is saved.', page.getByRole('button', { name: 'Create geofence' }).click());
    expect((await stored('polygon')).geometry.coordinates[0]).toHaveLength(4);
  });

  it('edits in place, keeps unsaved changes, asks before they are lost, and refuses what another changed', async () => {
    const page = await openMap();
    const far = await onMap(page);
    await page.mouse.click(...far([0, 0]));
    await page.getByRole('region', { name: 'Market hall' }).waitFor();
    const point = await onMap(page);
    expect(new URL(page.url()).searchParams.get('geofence')).toBe((await stored('hall'))._id);
    await pull(page, point([0, 0]), point([0, 80]));
    const moved = await page.getByLabel('Latitude').inputValue();
    expect(Number(moved)).toBeLessThan(latitude);
    await page.mouse.click(...point([-250, -250]));
    await page.getByText('Save or cancel your changes first.').waitFor();
    await page.getByRole('link', { name: 'Beacons' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(await page.getByLabel('Latitude').inputValue()).toBe(moved);

    ok(await server.as('test_secret').send('PATCH', '/v1/geofences/drawn/hall', { body: { description: 'Renamed' } }));
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Somebody else has changed').waitFor();
    await page.getByRole('button', { name: 'Show its present state' }).click();
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('region', { name: 'Renamed' }).waitFor();
    await page.getByLabel('Radius').fill('222');
    // While it saves, neither the map nor the history changes what the answer replaces.
    let send = (): void => {};
    const isSent = new Promise<void>((resolve) => (send = resolve));
    await page.route('**/v1/geofences/*', (route) => isSent.then(() => route.continue()), { times: 1 });
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('button', { name: 'Save changes' }).and(page.locator('[aria-busy]')).waitFor();
    const opened = await page.getByLabel('Latitude').inputValue();
    const hall = await onMap(page);
    await pull(page, hall([0, 0]), hall([0, 80]));
    await page.keyboard.press('Control+z');
    expect([await page.getByLabel('Latitude').inputValue(), await page.getByLabel('Radius').inputValue()]).toEqual([
      opened,
      '222',
    ]);
    await says(page, 'Renamed is saved.', Promise.resolve(send()));
    expect(await stored('hall')).toMatchObject({ geometryRadius: 222 });
    await page.getByLabel('Radius').fill('333');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('region', { name: 'Renamed' }).waitFor({ state: 'detached' });
    // Cancel is a decision already, so it asks nothing.
    await page.mouse.click(...(await onMap(page))([0, 0]));
    await page.getByLabel('Radius').fill('333');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('region', { name: 'Renamed' }).waitFor({ state: 'detached' });
  });

  it('says how travel times are configured, and places a beacon by keyboard', async () => {
    const page = await openMap();
    await page.getByRole('button', { name: 'Draw a travel time' }).click();
    const point = await onMap(page);
    await page.mouse.click(...point([0, 0]));
    await page.getByText('fenceline roads build').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    // By keyboard alone: the map has the focus as long as something is drawn.
    await page.getByRole('button', { name: 'Place a beacon' }).press('Enter');
    await page.locator('.map-canvas canvas:focus').waitFor();
    await page.keyboard.press('Enter');
    expect(Number(await page.getByLabel('Latitude').inputValue())).toBeCloseTo(latitude, 3);
    await name(page, 'Door', 'door');
    await page.getByLabel('UUID').fill('b9407f30-f5f8-466e-aff9-25556b57fe6d');
    await page.getByLabel('Major').fill('1');
    await page.getByLabel('Minor').fill('2');
    await says(page, 'Door is saved.', page.getByLabel('Minor').press('Enter'));
    await page.locator('.map-canvas canvas:focus').waitFor();
    await page.getByText(/1 beacon$/).waitFor();
  });

  it('lets a viewer look at a geofence, and change nothing', async () => {
    const page = await loaded(await asViewer(`/map?${here}&geofence=${(await stored('circle'))._id}`));
    const radius = page.getByLabel('Radius');
    await radius.waitFor();
    expect(await radius.isDisabled()).toBe(true);
    for (const name of ['Draw', 'Drawing'])
      expect([name, await page.getByRole('group', { name, exact: true }).count()]).toEqual([name, 0]);
    const before = await page.getByLabel('Latitude').inputValue();
    const point = await onMap(page);
    await pull(page, point([0, 0]), point([0, 80]));
    expect(await page.getByLabel('Latitude').inputValue()).toBe(before);
    for (const name of ['Save changes', 'Delete'])
      expect([name, await page.getByRole('button', { name }).count()]).toEqual([name, 0]);
  });

  it('finds places and addresses by keyboard, and hides layers', async () => {
    const page = await openMap('', { viewport: { width: 360, height: 740 } });
    const search = page.getByRole('combobox', { name: /^Search/ });
    await search.fill('yard drawn');
    await page.getByRole('option', { name: /^Yard/ }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await search.press('Enter');
    await page.getByRole('region', { name: 'Yard' }).waitFor();
    expect(await page.locator('html').evaluate(({ scrollWidth }) => scrollWidth)).toBe(360);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Close the form' }).click();
    await search.fill('Paris');
    await page
      .getByRole('option', { name: /Paris.*Address/ })
      .first()
      .waitFor();
    await search.press('Escape');
    await page.getByRole('button', { name: 'Layers and legend' }).click();
    await page.getByRole('checkbox', { name: /^Geofences/ }).uncheck();
    await page.getByLabel('Colours').selectOption('By tag');
    await page.getByRole('checkbox', { name: /^drawn/ }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    // The focus was lost with the list.
    await page.keyboard.press('Escape');
    await page.locator('button[aria-label="Layers and legend"]:focus').waitFor();
  });

  // One request that failed left the map with a part of the places.
  it('asks again for places that did not come, and says when they are missing', async () => {
    const page = await asOwner('/keys');
    await page.route('**/v1/geofences/outlines*', (route) => route.fulfill({ status: 500, json: {} }), { times: 1 });
    await page.route('**/v1/beacons/outlines*', (route) => route.fulfill({ status: 400, json: {} }));
    await page.getByRole('link', { name: 'Map', exact: true }).click();
    await page.getByText(/^[1-9]\d* geofences?, 0 beacons; others are missing$/).waitFor();
    await page.getByRole('alert').filter({ hasText: 'Places are missing' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Load the rest' }).click();
    await page.getByText(/^[1-9]\d* geofences?, 1 beacon$/).waitFor();
    expect(await page.getByText('Places are missing').count()).toBe(0);
  });

  // It showed the first 500 places, and those that came later were out of sight.
  it('shows all places when the last of them are there, unless the map was moved', async () => {
    const page = await asOwner('/keys');
    const placesOf = async (answer: Promise<void>) => {
      await page.route('**/v1/beacons/outlines*', async (route) => {
        await answer;
        const outlines = [{ _id: 'far', description: 'Far away', enabled: true, center: [longitude + 20, latitude] }];
        await route.fulfill({ json: { meta: { code: 200, hasMore: false }, outlines } });
      });
    };
    const width = () =>
      page.evaluate<number>(`(({ map }) => {
      const bounds = map.getBounds();
      return bounds.getEast() - bounds.getWest();
    })(document.querySelector('.map-canvas'))`);
    for (const isMoved of [false, true]) {
      let release = () => {};
      await placesOf(
        new Promise((resolve) => {
          release = resolve;
        }),
      );
      await page.goto(`${server.address}/map`);
      await page.waitForURL(/at=/);
      expect(await width()).toBeLessThan(1);
      if (isMoved) await page.evaluate("document.querySelector('.map-canvas').map.panBy([40, 0], { duration: 0 })");
      release();
      await page.getByText(/geofences?, 1 beacon$/).waitFor();
      if (isMoved) expect(await width()).toBeLessThan(1);
      else await expect.poll(width).toBeGreaterThan(20);
    }
  });

  it('goes along with a pull in fewer pixels where frames are slow, and is sharp again after it', async () => {
    const page = await asOwner('/keys');
    await page.addInitScript(slowFrames);
    await page.goto(`${server.address}/map`);
    await loaded(page);
    const canvas = page.locator('.map-canvas canvas').first();
    const widthPx = () => canvas.evaluate((element) => (element as unknown as { width: number }).width);
    const sharpPx = await widthPx();
    const { x, y, width, height } = (await page.locator('.map-canvas').boundingBox())!;
    const middle: Point = [x + width / 2, y + height / 2];
    await page.evaluate(`pulled = document.querySelector('.map-canvas').map.getCenter()`);
    await page.mouse.move(...middle);
    await page.mouse.down();
    let eastPx = 0;
    const pullOn = async () => {
      eastPx += 4;
      await page.mouse.move(middle[0] + eastPx, middle[1]);
    };
    await expect.poll(() => pullOn().then(widthPx)).toBe(Math.floor(sharpPx / 2));
    // The pull goes on: what was in the middle is where the pointer is.
    for (let step = 0; step < 10; step++) await pullOn();
    const pulledPx = () => page.evaluate<number>(`document.querySelector('.map-canvas').map.project(pulled).x`);
    await expect.poll(async () => Math.abs((await pulledPx()) - width / 2 - eastPx)).toBeLessThan(8);
    await page.mouse.up();
    await expect.poll(widthPx).toBe(sharpPx);
  });

  // Once, the map was hidden while the next view was loaded, moved because of it, and wrote its address again.
  it('is left for a view that is still loaded, although the hidden map moves', async () => {
    const page = await openMap();
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/assets/keys-*.js', (route) => released.then(() => route.continue()));
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.locator('.map-canvas').waitFor({ state: 'hidden' });
    await page.evaluate("document.querySelector('.map-canvas')?.map.jumpTo({ zoom: 3 })");
    release();
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/keys');
  });

  it('draws every layer, and never waits for the link of a shader', async () => {
    const page = await asOwner('/keys');
    await page.addInitScript(countLinks);
    await page.goto(`${server.address}/map?${here}`);
    await loaded(page);
    const { linked, drew, waits } = await page.evaluate(() => {
      const { links } = globalThis as unknown as Links;
      return { linked: links.linked.size, drew: links.drew.size, waits: links.waits };
    });
    expect(linked).toBeGreaterThan(3);
    expect([drew, waits]).toEqual([linked, 0]);
  });

  // The outline was drawn around the world, and the map showed all of it.
  it('shows a polygon over the antimeridian where it is', async () => {
    const coordinates = [
      [179.99, -17],
      [-179.99, -17],
      [-179.99, -16.98],
      [179.99, -16.98],
      [179.99, -17],
    ];
    const polygon = { type: 'polygon', coordinates, description: 'Date line' } as const;
    await server.as('test_secret').putGeofence('dateline', polygon, 'drawn');
    const page = await loaded(await asOwner(`/map?geofence=${(await stored('dateline'))._id}`));
    await page.getByRole('region', { name: 'Date line' }).waitFor();
    const map = "document.querySelector('.map-canvas').map";
    const has = (layer: string, at: number) =>
      page.evaluate<boolean>(
        `${map}.queryRenderedFeatures(${map}.project([${at}, -16.99]), { layers: ['${layer}'] }).length > 0`,
      );
    await expect
      .poll(() => page.evaluate(`${map}.getBounds().getEast() - ${map}.getBounds().getWest()`))
      .toBeLessThan(1);
    await expect.poll(() => has('draft-fill', 180)).toBe(true);
    expect(await has('draft-fill', 179.98)).toBe(false);
    // The words about it lay over the buttons of the map.
    await page.setViewportSize({ width: 1024, height: 768 });
    const bar = (await page.getByRole('group', { name: 'Drawing' }).boundingBox())!;
    const buttons = (await page.locator('.maplibregl-ctrl-zoom-out').boundingBox())!;
    expect(bar.x + bar.width).toBeLessThan(buttons.x);
    expect(bar.height).toBeLessThan(110);
    // The number of places lay over the search.
    for (const width of [1024, 1180]) {
      await page.setViewportSize({ width, height: 768 });
      const [search, count] = ['.map-search', '.map-count'].map((part) => page.locator(part));
      if (!(await count!.isVisible())) continue;
      const [{ x, width: searchWidth }, { x: countX }] = [
        (await search!.boundingBox())!,
        (await count!.boundingBox())!,
      ];
      expect([width, x + searchWidth < countX]).toEqual([width, true]);
    }
    // A long hint beside them made the buttons 17 px wide on phones.
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.getByRole('button', { name: 'Undo' }).boundingBox()).toMatchObject({ width: 32, height: 32 });
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('button', { name: 'Close the form' }).click();
    await expect.poll(() => has('shape-fill', 180)).toBe(true);
    expect(await has('shape-fill', 179.98)).toBe(false);
  });
});

/** What the tests use of MapLibre's map and of WebGL. */
interface DrawnMap {
  once(event: 'render'): Promise<unknown>;
  triggerRepaint(): void;
  getCanvas(): { readonly width: number; readonly height: number; getContext(kind: 'webgl2'): Graphics };
}

interface Graphics {
  readonly RGBA: number;
  readonly UNSIGNED_BYTE: number;
  readPixels(x: number, y: number, width: number, height: number, format: number, type: number, to: Uint8Array): void;
}

/** Returns the colour in the middle of the map, as its next frame has it. */
const middleColour = (page: Page) =>
  page.locator('.map-canvas').evaluate(async (container) => {
    const { map } = container as unknown as { map: DrawnMap };
    // The frame's pixels are there until the browser has shown it.
    const rendered = map.once('render');
    map.triggerRepaint();
    await rendered;
    const canvas = map.getCanvas();
    const graphics = canvas.getContext('webgl2');
    const pixel = new Uint8Array(4);
    graphics.readPixels(canvas.width / 2, canvas.height / 2, 1, 1, graphics.RGBA, graphics.UNSIGNED_BYTE, pixel);
    return `#${[...pixel.slice(0, 3)].map((value) => value.toString(16).padStart(2, '0')).join('')}`;
  });

describe.skipIf(!isRunnable)('a tile that is under way', () => {
  it.each([
    ['the sea', '30,-40,4.5', /^#c4d1d9$/],
    // A label or a border may be near.
    ['land', '47,3,4.5', /^#f.f.f.$/],
  ])(
    'has neither the colour of water nor of land where %s is (fault: a city looked like water)',
    async (_, view, loadedColour) => {
      const page = await asOwner('/start');
      const held: Route[] = [];
      let isHeld = true;
      await page.route('**/maps/tiles/**', (route) => {
        if (isHeld) held.push(route);
        else void route.continue();
      });
      await page.goto(`${server.address}/map?at=${view}`);
      await expect.poll(() => held.length).toBeGreaterThan(0);
      await expect.poll(() => middleColour(page)).toBe('#e3e5e6');
      isHeld = false;
      for (const route of held) await route.continue();
      await drawn(page);
      await expect.poll(() => middleColour(page)).toMatch(loadedColour);
    },
  );
});
