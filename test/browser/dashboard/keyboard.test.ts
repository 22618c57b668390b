/** The dashboard by keyboard: where the focus is when a dialog opens, and after the link past the navigation. */
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../support/client.js';
import { at, circle } from '../../support/places.js';
import { asOwner, isRunnable, server, useDashboard } from './fixture.js';

useDashboard();

/** Returns the name of the control that has the focus. */
const focusedName = (page: Page) =>
  page.evaluate<string>(`{
    const { ariaLabel, labels, textContent } = document.activeElement;
    ariaLabel ?? labels?.[0]?.textContent ?? textContent;
  }`);

describe.runIf(isRunnable)('the keyboard', () => {
  beforeAll(() => server.as('test_secret').putGeofence('kept', circle(0, 0, 100)));

  // The cross had the focus, in forms as well.
  it('is on Cancel when a dialog asks before a deletion, so that Enter keeps the record', async () => {
    const page = await asOwner('/geofences');
    await page.getByRole('checkbox', { name: /kept/ }).check();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    expect(await focusedName(page)).toBe('Cancel');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect((await server.as('test_secret').get('/v1/geofences/test/kept')).status).toBe(200);
  });

  it.each([
    ['/webhooks', 'New webhook', 'URL'],
    ['/settings', 'Delete project', 'Name of the project'],
  ])('is in the first field of a form in a dialog: %s, %s', async (path, button, field) => {
    const page = await asOwner(path);
    await page.getByRole('button', { name: button }).first().click();
    await page.getByRole('dialog').waitFor();
    expect(await focusedName(page)).toBe(field);
  });

  // It stayed on the button when a row came, and was lost when its row went.
  it('is in a row that is added to metadata or hours, and on the button of rows when one is removed', async () => {
    const page = await asOwner('/geofences/new');
    const add = page.getByRole('button', { name: 'Add a value' });
    for (const _ of ['first', 'second']) {
      await add.press('Enter');
      await page.keyboard.type('floor');
    }
    expect(await page.getByLabel('Name', { exact: true }).last().inputValue()).toBe('floor');
    await page.getByRole('button', { name: 'Remove floor' }).first().press('Enter');
    await expect.poll(() => focusedName(page)).toBe('Add a value');

    await page.getByText('Always open').click();
    await page.getByRole('button', { name: 'Monday: add hours' }).press('Enter');
    await expect.poll(() => focusedName(page)).toBe('Monday, opening 2');
    await page.getByRole('button', { name: 'Monday: remove 09:00 to 17:00' }).first().press('Enter');
    await expect.poll(() => focusedName(page)).toBe('Monday: add hours');
  });

  // Each row was a tab stop, and had two for owners: to come past 100 rows took 200 presses of Tab.
  it('comes past a long list with one press of Tab, and through its rows with the arrow keys', async () => {
    const geofences = Array.from({ length: 120 }, (_, index) => ({
      ...circle(9_000, 9_000, 100),
      tag: 'keys',
      externalId: `${index}`,
      description: `Key ${`${index}`.padStart(3, '0')}`,
    }));
    ok(await server.as('test_secret').send('POST', '/v1/geofences/batch', { body: { geofences } }));
    const page = await asOwner('/geofences?tag=keys&sort=description');
    const list = page.getByRole('region', { name: 'List of geofences' });
    await page.getByText('100 are loaded').waitFor();
    const stops = list.locator('tbody :is(a, input):not([tabindex="-1"])');
    expect(await stops.count()).toBe(1);
    // The last tab stop of the head.
    await list.getByRole('button', { name: 'Updated' }).focus();
    await page.keyboard.press('Tab');
    expect(await focusedName(page)).toBe('Select Key 000');
    await page.keyboard.press('Tab');
    expect(await list.evaluate((each) => each.contains(each.ownerDocument.activeElement))).toBe(false);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('ArrowDown');
    expect(await focusedName(page)).toBe('Select Key 001');
    await page.keyboard.press('ArrowRight');
    expect(await focusedName(page)).toBe('Key 001');
    await page.keyboard.press('ArrowDown');
    expect(await focusedName(page)).toBe('Key 002');
    await page.keyboard.press('End');
    await expect.poll(() => focusedName(page)).toMatch(/^Key (099|119)$/);
    await page.keyboard.press('PageUp');
    await expect.poll(() => focusedName(page)).toMatch(/^Key (08|09|10|11)\d$/);
    const focused = list.locator('a:focus');
    const isInSight = () =>
      focused.evaluate((each) => {
        const place = each.getBoundingClientRect();
        const { top, bottom } = each.closest('section')!.getBoundingClientRect();
        // The head covers the first rows.
        return place.top >= top + 34 && place.bottom <= bottom;
      });
    await expect.poll(isInSight).toBe(true);
    // The row with the focus keeps it out of sight, and is the one to go on from.
    const name = await focusedName(page);
    await list.evaluate((each) => each.scrollTo(0, 0));
    await list.getByRole('link', { name: 'Key 000' }).waitFor();
    expect(await focusedName(page)).toBe(name);
    expect(await stops.count()).toBe(1);
    await page.keyboard.press('Home');
    await expect.poll(() => focusedName(page)).toBe('Key 000');
    await expect.poll(isInSight).toBe(true);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Key 000' }).waitFor();
  });

  // The focus was lost with each button that was replaced by the next step, and Tab began at the top of the page.
  it('goes on in an import after each step, and in a list after the removal of a row', async () => {
    const page = await asOwner('/imports');
    const csv = 'description,tag,externalId,type,coordinates,radius\nBy keyboard,keys,one,circle,"[1,1]",100\n';
    const choose = page.getByRole('button', { name: 'Choose a file' });
    // The view has loaded all that it shows.
    await page.getByText('up to 2 GiB').waitFor();
    await choose.focus();
    const file = { name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) };
    await page.locator('input[type=file]').setInputFiles(file);
    await choose.waitFor({ state: 'detached' });
    for (const name of ['Check the file', 'Import 1 row', 'Import another file']) {
      const button = page.getByRole('button', { name });
      await button.and(page.locator(':enabled')).waitFor();
      for (let presses = 0; presses < 2; presses++) {
        await page.keyboard.press('Tab');
        if ((await focusedName(page)) === name) break;
      }
      expect(await focusedName(page)).toBe(name);
      if (name !== 'Import another file') await page.keyboard.press('Enter');
    }

    await page.goto(`${server.address}/members`);
    await page.getByLabel('Email').fill('keys@example.com');
    await page.keyboard.press('Enter');
    const withdraw = page.getByRole('button', { name: 'Withdraw the invitation of keys@example.com' });
    await withdraw.press('Enter');
    await withdraw.waitFor({ state: 'detached' });
    await page.locator('main:focus, main :focus').waitFor();
  });

  // The button of the next page was disabled on the last one, and Tab began again at the top of the page.
  it('stays on a button that its own press has disabled', async () => {
    const page = await asOwner('/settings');
    const rename = page.getByRole('button', { name: 'Rename', exact: true });
    await page.getByLabel('Name', { exact: true }).fill('Renamed by keyboard');
    await rename.press('Enter');
    await page.getByText('The project is renamed.').waitFor();
    await expect.poll(() => rename.isDisabled()).toBe(true);
    expect(await focusedName(page)).toBe('Rename');
    await page.keyboard.press('Tab');
    await expect.poll(() => rename.evaluate((button) => button.matches(':disabled'))).toBe(true);
    await page.locator('main :focus').waitFor();
  });

  // Only a pointer could choose a place on a map, or place a proposed geofence. From the map, Tab came to the search
  // and the tools before the form beside it.
  it('clicks at the cross of a map, and comes from the map to its form', async () => {
    const [longitude, latitude] = at(0, 0);
    const page = await asOwner(`/map?at=${latitude.toFixed(5)},${longitude.toFixed(5)},15`);
    const canvas = page.locator('.map-canvas canvas').first();
    await page.getByText(/^\d+ geofences?, \d+ beacons?$/).waitFor();
    await page.locator('.map-canvas[aria-busy=false]').waitFor();
    // The layers covered the tools that the focus had gone to.
    await page.getByRole('button', { name: 'Layers and legend' }).press('Enter');
    await page.getByLabel('Map', { exact: true }).and(page.locator('select')).press('Tab');
    await page.getByRole('region', { name: 'Layers and legend' }).waitFor({ state: 'detached' });
    expect(await focusedName(page)).toBe('Draw a circle');
    await canvas.focus();
    await expect
      .poll(async () => {
        await page.keyboard.press('Enter');
        return page.getByRole('region', { name: 'kept' }).count();
      })
      .toBe(1);
    const names: string[] = [];
    while (names.at(-1) !== 'Delete') {
      await page.keyboard.press('Tab');
      names.push(await focusedName(page));
    }
    expect(names.filter((name) => /^(Search|Layers|Draw|Place)/.test(name))).toEqual([]);

    await page.goto(`${server.address}/what-if`);
    await canvas.press('Enter');
    await expect.poll(() => page.getByLabel('Latitude').inputValue()).toMatch(/\d/);
  });

  // The link added #main to the address, so the next Back stayed on the view.
  it('comes to the content by the link past the navigation, and Back leads to the view before', async () => {
    const page = await asOwner('/keys');
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await page.getByRole('link', { name: 'Members' }).click();
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
    await page.getByRole('link', { name: 'Skip to content' }).press('Enter');
    await page.locator('main:focus').waitFor();
    expect(new URL(page.url()).hash).toBe('');
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
  });
});
