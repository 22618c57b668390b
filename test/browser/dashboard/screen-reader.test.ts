/** What the dashboard reads aloud: regions whose changes software for the blind tells by itself. */
import type { Locator } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { circle, standing } from '../../support/places.js';
import { asOwner, isRunnable, server, useDashboard } from './fixture.js';

useDashboard();

/** Keeps a mark on the element. A region that is made anew with its text is not read aloud. */
const mark = (region: Locator) =>
  region.evaluate((element) => {
    element.id = 'marked';
  });

describe.runIf(isRunnable)('what is read aloud', () => {
  beforeAll(() => server.as('test_secret').putGeofence('kept', { ...circle(0, 0, 100), description: 'Kept' }));

  // The number of rows went away with the last one, so nothing said that nothing matches.
  it.each(['/geofences', '/users'])('tells how many rows match, also when none does: %s', async (path) => {
    await server.as('test_secret').track({ deviceId: 'kept', ...standing(0, 0) });
    const page = await asOwner(path);
    const count = page.getByRole('status').filter({ hasText: 'in all' });
    await expect
      .poll(async () => {
        // A user is listed about a second after its location.
        await page.reload();
        await page
          .getByRole('table')
          .or(page.getByRole('main').getByRole('heading', { level: 2 }))
          .first()
          .waitFor();
        return page.getByRole('row').count();
      })
      .toBeGreaterThan(1);
    await count.waitFor();
    await mark(count);
    await page.getByRole('searchbox', { name: /^Search/ }).fill('nothing of this name');
    await page.getByText('Nothing matches').waitFor();
    await page.locator('#marked').getByText('0 in all').waitFor({ state: 'attached' });
    await page.getByRole('searchbox', { name: /^Search/ }).fill('kept');
    await page.locator('#marked').getByText('1 in all').waitFor();
  });

  // Each event was followed by the number of all events, and each minute by the age of a time. A message was read again
  // with the next one.
  it('tells each message once, and neither each event nor the age of a time', async () => {
    const backend = server.as('test_secret');
    const page = await asOwner('/live');
    await page.getByText('Connected').waitFor();
    await backend.track({ deviceId: 'visitor', ...standing(0, 0) });
    const count = page.getByRole('region', { name: 'Events', exact: true }).getByRole('status');
    await count.getByText(/^\d+ events?$/).waitFor();
    expect(await count.getAttribute('aria-live')).toBe('off');
    await page.getByRole('button', { name: 'Pause' }).click();
    expect(await count.getAttribute('aria-live')).toBe('polite');

    await page.goto(`${server.address}/start`);
    const event = page.getByRole('status').filter({ hasText: 'Kept' });
    await event.waitFor();
    expect(await event.textContent()).not.toContain('"_id"');
    expect(await event.getByRole('time').getAttribute('aria-live')).toBe('off');
    expect(await page.locator('.toasts').getAttribute('aria-atomic')).toBe('false');
  });
});
