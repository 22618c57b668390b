/**
 * The dashboard in Chromium: one browser and one project of the shared server for a file of tests. After each test, no
 * page has thrown, broken the security policy, or asked another server.
 */
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { until } from '../../../testing/until.js';
import { ok } from '../../support/client.js';
import { SharedServer } from '../../support/shared-server.js';
import { hasBrowser, launchBrowser, openPage } from '../browser.js';

export const isRunnable = hasBrowser();
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let browser: Browser;
let owner: Awaited<ReturnType<typeof signInOnce>>;
const complaints: string[] = [];

/** The server with the file's project. */
export let server: SharedServer;

/** Starts the browser and creates the project. `flags` are Chromium's, such as `withSoftwareGraphics`. */
export function useDashboard({ flags = [] }: { readonly flags?: readonly string[] } = {}): void {
  beforeAll(async () => {
    if (!isRunnable) return;
    [browser, server] = await Promise.all([launchBrowser(flags), SharedServer.newProject()]);
    owner = await signInOnce();
  });
  afterAll(async () => {
    await browser?.close();
  });
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });
}

/** Opens a path of the dashboard in a fresh browser context, at 1280 by 800 unless the options say otherwise. */
export async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
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

/** Opens a path as the owner of the project, in its test environment. */
export const asOwner = (path: string, options: BrowserContextOptions = {}) =>
  open(path, { ...options, storageState: owner });

/** Returns the fragment of a link that signs in once as the owner. */
export async function oneTimeLink(): Promise<string> {
  const administrator = await server.administrator();
  return new URL(ok(await administrator.post('/v1/signin/links', { project: server.project })).url).hash;
}

async function signInOnce() {
  const page = await open(`/account${await oneTimeLink()}`);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  const state = await page.context().storageState();
  await page.context().close();
  return state;
}

/** Invites a viewer, who accepts, and opens a path as this viewer. */
export async function asViewer(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const email = `viewer-${server.project}-${Date.now()}@example.com`;
  const inviting = await asOwner('/members');
  await inviting.getByLabel('Email').fill(email);
  await inviting.getByRole('button', { name: 'Invite' }).click();
  await inviting.getByRole('button', { name: `Withdraw the invitation of ${email}` }).waitFor();
  await inviting.context().close();
  const page = await open(`/account#invitation=${await invitationOf(email)}`, options);
  await page.getByLabel('Password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  await page.goto(server.address + path);
  return page;
}

/** Returns the token of the invitation. The mail is written after the answer. */
async function invitationOf(email: string): Promise<string> {
  return until(async () => {
    for (const name of await readdir(server.outbox).catch(() => [])) {
      const mail = name.endsWith('.eml') ? await readFile(join(server.outbox, name), 'utf8') : '';
      const token = mail.includes(email) && /#invitation=([\w-]+)/.exec(mail)?.[1];
      if (token) return token;
    }
    return undefined;
  });
}

/** Returns the accessibility rules that the page breaks seriously, with the elements. */
export async function seriousFindings(page: Page): Promise<string[]> {
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
