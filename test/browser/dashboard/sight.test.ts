/** The dashboard with little sight: high contrast, large letters, and windows that are enlarged. */
import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { until } from '../../../testing/until.js';
import { ok } from '../../support/client.js';
import { circle, square, standing } from '../../support/places.js';
import { asOwner, isRunnable, server, useDashboard } from './fixture.js';

useDashboard();

/** Returns a computed property of the element. */
const styleOf = (element: Locator, property: string): Promise<string> =>
  element.evaluate(
    (each, name) => each.ownerDocument.defaultView!.getComputedStyle(each).getPropertyValue(name),
    property,
  );

/** Returns the relative luminance of a colour, as WCAG defines it, from 0 to 1. */
function luminance(colour: string): number {
  const [red, green, blue] = colour
    .match(/[\d.]+/g)!
    .map((value) => Number(value) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(one: string, other: string): number {
  const [dark, bright] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (bright! + 0.05) / (dark! + 0.05);
}

describe.runIf(isRunnable)('the dashboard with little sight', () => {
  // White signs were inverted to black on black, the ring of the focus was a shadow that high contrast takes away, and
  // the chosen tool looked as the others.
  it('shows the buttons of a map, the focus on them and the chosen tool with high contrast', async () => {
    const page = await asOwner('/keys');
    await page.emulateMedia({ colorScheme: 'dark', forcedColors: 'active' });
    await page.goto(`${server.address}/map`);
    const zoomIn = page.getByRole('button', { name: 'Zoom in' });
    await zoomIn.waitFor();
    expect(await styleOf(zoomIn.locator('.maplibregl-ctrl-icon'), 'filter')).toBe('none');
    await page.locator('.map-canvas canvas').first().focus();
    await page.keyboard.press('Tab');
    await zoomIn.and(page.locator(':focus')).waitFor();
    expect(await styleOf(zoomIn, 'outline-style')).toBe('solid');
    const [chosen, other] = [
      page.getByRole('button', { name: 'Draw a circle' }),
      page.getByRole('button', { name: 'Draw a polygon' }),
    ];
    await chosen.click();
    await chosen.and(page.locator('[aria-pressed=true]')).waitFor();
    // The colour of a button changes in a moment.
    await expect
      .poll(async () => contrast(await styleOf(chosen, 'background-color'), await styleOf(other, 'background-color')))
      .toBeGreaterThan(3);
  });

  // The cross was as bright as the letters of the page, and was not seen on a bright map in a dark page.
  it('shows the edges of fields, the chosen entry of a menu, and the cross of a map on any ground', async () => {
    const page = await asOwner('/keys');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(`${server.address}/map`);
      await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
      const colours = (await styleOf(page.locator('.map-crosshair'), 'background-image')).match(/rgb\([^)]*\)/g)!;
      expect([colorScheme, contrast(colours[0]!, colours.at(-1)!) > 3]).toEqual([colorScheme, true]);
      await page.getByRole('link', { name: 'Members' }).click();
      const field = page.getByLabel('Email');
      await field.waitFor();
      const edge = contrast(await styleOf(field, 'border-top-color'), await styleOf(field, 'background-color'));
      expect([colorScheme, 'edge', edge > 3]).toEqual([colorScheme, 'edge', true]);
      await page.getByRole('button', { name: 'Account and appearance' }).press('Enter');
      await page.getByRole('menu').waitFor();
      await page.keyboard.press('ArrowDown');
      expect(await styleOf(page.locator('.menu-item:focus'), 'outline-style')).toBe('solid');
    }
  });

  // The margins around a place were higher than the map beside its form, so the map stayed where it was.
  it('goes to a chosen place in a window that is enlarged to 200 %', async () => {
    const { _id } = await server.as('test_secret').putGeofence('low', square(0, 0, 100));
    const page = await asOwner(`/map?geofence=${_id}`, { viewport: { width: 640, height: 360 } });
    await expect.poll(() => Number(new URL(page.url()).searchParams.get('at')?.split(',')[2])).toBeGreaterThan(10);
  });

  // The last tab was cut, and scrolled into sight neither by the focus nor by its choice.
  it('shows the tabs of a webhook in a window that is enlarged to 400 %', async () => {
    const url = 'https://receiver.invalid/';
    const { webhook } = ok(await server.as('test_secret').post('/v1/webhooks', { url }));
    const page = await asOwner(`/webhooks/${webhook._id}?tab=settings`, { viewport: { width: 320, height: 640 } });
    const { x, width } = (await page.getByRole('tab', { name: 'Settings' }).boundingBox())!;
    expect(x + width).toBeLessThanOrEqual(320);
  });

  // Rows of events had the height of the usual letters, and lay over each other.
  it('gives rows of events the height of large letters', async () => {
    const backend = server.as('test_secret');
    await backend.putGeofence('tall', { ...circle(0, 5_000, 100), description: 'Tall' });
    const { user } = await backend.track({ deviceId: 'reader', ...standing(0, 5_000) });
    await until(async () => ok(await backend.get(`/v1/events?user=${user._id}`)).events.length > 0);
    const page = await asOwner('/keys');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('html').evaluate(({ style, ownerDocument }, path) => {
      style.fontSize = '200%';
      ownerDocument.defaultView!.history.pushState(null, '', path);
    }, `/users/${user._id}`);
    const row = page.locator('.event-row').first();
    await row.waitFor();
    expect(await row.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)).toBe(0);
  });
});
