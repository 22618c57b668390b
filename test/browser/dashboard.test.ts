/** The dashboard in Chromium: a user signs in, creates a geofence, and sees what follows. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../support/client.js';
import { SharedServer } from '../support/shared-server.js';
import { hasBrowser, launchBrowser, openPage } from './browser.js';

const isRunnable = hasBrowser();
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let server: SharedServer;
let browser: Browser;
let owner: Awaited<ReturnType<typeof signInOnce>>;
/** What the page complained about, and requests to other servers. Empty after each test. */
const complaints: string[] = [];

beforeAll(async () => {
  if (!isRunnable) return;
  [browser, server] = await Promise.all([launchBrowser(), SharedServer.newProject()]);
  owner = await signInOnce();
});
afterAll(async () => {
  await browser?.close();
});
afterEach(async () => {
  for (const context of browser?.contexts() ?? []) await context.close();
  expect(complaints.splice(0)).toEqual([]);
});

async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await openPage(browser, { viewport: { width: 1280, height: 800 }, ...options });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) complaints.push(message.text());
  });
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== server.address) complaints.push(request.url());
  });
  await page.goto(server.address + path);
  return page;
}

async function oneTimeLink(): Promise<string> {
  const administrator = await server.administrator();
  return new URL(ok(await administrator.post('/v1/signin/links', { project: server.project })).url).hash;
}

/** Returns the state of a browser that is signed in as the owner of the project. */
async function signInOnce() {
  const page = await open(`/account${await oneTimeLink()}`);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  const state = await page.context().storageState();
  await page.context().close();
  return state;
}

const asOwner = (path: string, options: BrowserContextOptions = {}) => open(path, { ...options, storageState: owner });

/** Returns the accessibility rules that the page breaks seriously, with the elements. */
async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: AxeViolation[] }> } };
    const { violations } = await axe.run();
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  });
}
interface AxeViolation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

const views = ['/start', '/keys'];

describe.runIf(isRunnable)('the dashboard', () => {
  it('shows every view in both themes, and at 360 px without scrolling sideways, with no serious axe finding', async () => {
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 360],
    ] as const) {
      const page = await asOwner('/', { colorScheme, viewport: { width, height: 760 } });
      for (const view of views) {
        await page.goto(server.address + view);
        await page.getByRole('heading', { level: 1 }).waitFor();
        expect([view, await seriousFindings(page)]).toEqual([view, []]);
        expect(await page.locator('html').evaluate(({ scrollWidth }) => scrollWidth)).toBe(width);
        expect(await page.getByRole('radio', { name: 'Test' }).isChecked()).toBe(true);
      }
    }
  });

  it('uses a one-time link once, and takes its token out of the address', async () => {
    const link = await oneTimeLink();
    const page = await open(`/account${link}`);
    await page.getByRole('heading', { name: 'Sign in by the one-time link' }).waitFor();
    expect(new URL(page.url()).hash).toBe('');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    const second = await open(`/account${link}`);
    await second.getByRole('button', { name: 'Sign in', exact: true }).click();
    await second.getByText('the token is unknown, used or expired').waitFor();
  });

  it('creates an account, shows its keys once, and signs out and in', async () => {
    const page = await open('/');
    const email = `dashboard-${Date.now()}@example.com`;
    await page.getByRole('button', { name: 'Create an account' }).click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill('short');
    await page.getByLabel('Project').fill('A shop');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('alert').filter({ hasText: 'password' }).waitFor();
    await page.getByLabel('Password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('prj_live_sk_').waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Project: A shop' }).waitFor();

    await page.getByRole('button', { name: 'Account and appearance' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill('a wrong password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('the address or the password is wrong').waitFor();
    await page.getByLabel('Password').fill('correct horse battery');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Project: A shop' }).waitFor();
  });

  it('leads from an empty project to its first event, which arrives by itself', async () => {
    const page = await asOwner('/start');
    await page.getByRole('radio', { name: 'Live' }).check({ force: true });
    await page.getByLabel('Radius').fill('5');
    await page.getByRole('button', { name: 'Create geofence' }).click();
    await page.getByRole('alert').filter({ hasText: 'radius' }).waitFor();
    await page.getByLabel('Radius').fill('100');
    await page.getByRole('button', { name: 'Create geofence' }).click();
    await page.getByText('Waiting for the first event').waitFor();
    await page.getByRole('button', { name: 'Send it from this page' }).click();
    await page.getByText('user.entered_geofence').first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('replaces a key, and shows the new one, which works', async () => {
    const page = await asOwner('/keys');
    await page.getByRole('button', { name: 'Replace the publishable key' }).click();
    await page.getByRole('button', { name: 'Replace key' }).click();
    const key = await page.getByText(/^prj_test_pk_[0-9a-f]+$/).textContent();
    expect((await server.withKey(key ?? '').get('/v1/config')).status).toBe(200);
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('says that the server does not answer, and continues when it does', async () => {
    // The view asks every few seconds whether a location has come.
    const page = await asOwner('/start');
    await page.getByText('Watch the event arrive').waitFor();
    await page.context().setOffline(true);
    await page.getByText('The server does not answer').waitFor();
    await page.context().setOffline(false);
    await page.getByText('The server does not answer').waitFor({ state: 'detached' });
  });
});
