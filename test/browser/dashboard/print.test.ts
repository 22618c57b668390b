/** Views of the dashboard on paper. A long list has only its rows in sight there: it can be exported. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { asOwner, isRunnable, useDashboard } from './fixture.js';

useDashboard();

/** Returns the colour of the text, from 0 for black to 765 for white. */
const brightness = (page: Page) =>
  page.evaluate<number>(`getComputedStyle(document.querySelector('h1')).color.match(/\\d+/g)
    .slice(0, 3).reduce((sum, part) => sum + Number(part), 0)`);

describe.runIf(isRunnable)('a printed view', () => {
  // The content scrolled in a frame as high as the window, so all but the first page was cut.
  it('has all of its content, dark letters, and nothing around it', async () => {
    const page = await asOwner('/settings', { viewport: { width: 800, height: 400 } });
    await page.getByRole('button', { name: 'Delete project' }).waitFor();
    await page.evaluate(`document.documentElement.dataset.theme = 'dark'`);
    expect(await brightness(page)).toBeGreaterThan(382);
    await page.emulateMedia({ media: 'print' });
    expect(await brightness(page)).toBeLessThan(382);
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect(await page.getByRole('group', { name: 'Environment' }).count()).toBe(0);
    const cutPx = await page.evaluate<number>(`{
      const { bottom } = document.querySelector('.page').getBoundingClientRect();
      bottom - document.documentElement.scrollHeight;
    }`);
    expect(cutPx).toBeLessThanOrEqual(0);
  });
});
