/** The dashboard by keyboard: where the focus is when a dialog opens, and after the link past the navigation. */
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { circle } from '../../support/places.js';
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
