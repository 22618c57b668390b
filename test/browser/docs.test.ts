/** The page /docs in a browser: its security policy blocks foreign content and nothing of its own. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SharedServer } from '../support/shared-server.js';
import { closePages, hasBrowser, openPage, sharedBrowser } from './browser.js';

const isRunnable = hasBrowser();

let server: SharedServer;
let browser: Browser;

beforeAll(async () => {
  if (isRunnable) [browser, server] = await Promise.all([sharedBrowser(), SharedServer.newProject()]);
});
afterAll(async () => {
  await closePages();
});

describe.runIf(isRunnable)('/docs', () => {
  it('shows every operation under its own policy, and loads from the server alone', async () => {
    const page = await openPage(browser);
    const complaints: string[] = [];
    page.on('request', (request) => {
      const isOwn = request.url().startsWith(server.address) || request.url().startsWith('data:');
      if (!isOwn) complaints.push(request.url());
    });
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${server.address}/docs`);
    await page.waitForSelector('#operations-track-postTrack');
    await page.click('#operations-track-postTrack button');
    await page.waitForSelector('#operations-track-postTrack .opblock-body');
    expect(complaints).toEqual([]);
  });

  it('cannot be framed by another page', async () => {
    const page = await openPage(browser);
    const refused = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/docs/'));
    await page.setContent(`<iframe src="${server.address}/docs/"></iframe>`);
    expect((await refused).failure()?.errorText).toMatch(/BLOCKED_BY_RESPONSE/);
  });
});
