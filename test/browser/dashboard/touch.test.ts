/** The dashboard under a finger, on the screen of a phone. */
import { describe, expect, it } from 'vitest';
import { circle } from '../../support/places.js';
import { asViewer, isRunnable, server, useDashboard } from './fixture.js';

useDashboard();

const phone = { width: 360, height: 740 };

describe.runIf(isRunnable)('touch', () => {
  // Only the letters of the name led to the record, and phones enlarged the page for each field.
  it('opens a record from anywhere in the cell of its name, and enlarges nothing for a field', async () => {
    await server.as('test_secret').putGeofence('yard', circle(0, 0, 100));
    const page = await asViewer('/geofences', { hasTouch: true, isMobile: true });
    await page.setViewportSize(phone);
    const cell = page.getByRole('cell', { name: 'yard' });
    await cell.waitFor();
    const letters = await page
      .getByRole('searchbox')
      .first()
      .evaluate((each) => each.ownerDocument.defaultView!.getComputedStyle(each).fontSize);
    expect(Number.parseFloat(letters)).toBeGreaterThanOrEqual(16);
    const { x, y, width, height } = (await cell.boundingBox())!;
    await page.touchscreen.tap(x + width - 8, y + height - 6);
    await page.getByRole('heading', { level: 1, name: 'yard' }).waitFor();
  });
});
