/**
 * The dashboard in Chromium, with one project of the shared server for a file of tests. After each test, no page has
 * thrown, broken the security policy, or asked another server.
 *
 * All pages of owners share a browser context, which keeps the compiled scripts: a page in a fresh one takes three
 * times the processor time. After each test it is as after the sign-in, and each file signs in again.
 */
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterEach, beforeAll, expect } from 'vitest';
import { until } from '../../../testing/until.js';
import { type Json, ok } from '../../support/client.js';
import { SharedServer } from '../../support/shared-server.js';
import { closePages, hasBrowser, newContext, openPage, sharedBrowser } from '../browser.js';

export const isRunnable = hasBrowser();
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let browser: Browser;
let owner: SignedIn;
/** The owners' context in each browser. It stays for the next file of this process. */
const ownerContexts = new Map<Browser, BrowserContext>();
const complaints: string[] = [];

interface SignedIn {
  readonly context: BrowserContext;
  readonly cookies: Awaited<ReturnType<BrowserContext['cookies']>>;
}

const desktop = { width: 1280, height: 800 };

/** The server with the file's project. */
export let server: SharedServer;

/** Creates the project and signs in its owner. */
export function useDashboard(): void {
  beforeAll(async () => {
    if (!isRunnable) return;
    [browser, server] = await Promise.all([sharedBrowser(), SharedServer.newProject()]);
    owner = await signIn();
  });
  afterEach(async () => {
    await closePages();
    if (isRunnable) await reset();
    expect(complaints.splice(0)).toEqual([]);
  });
}

/** Creates a page in a fresh browser context, at 1280 by 800 unless the options say otherwise. */
export async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
  const page = await openPage(browser, { viewport: desktop, ...options });
  watch(page);
  return page;
}

/** Opens a path of the dashboard in a fresh browser context. */
export async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await newPage(options);
  await page.goto(server.address + path);
  return page;
}

/** Sends a change with the cookies of a browser context, which may sign it in. So no page must load for it. */
export async function send({ request }: BrowserContext, path: string, body: object): Promise<Json> {
  const headers = { origin: server.address };
  const answer = await request.post(server.address + path, { data: body, headers });
  if (answer.status() !== 200) throw new Error(`${path} answers ${answer.status()}: ${await answer.text()}`);
  return answer.json();
}

/** Opens a path as the owner of the project, in its test environment. */
export async function asOwner(path: string, { viewport = desktop } = {}): Promise<Page> {
  const page = await owner.context.newPage();
  watch(page);
  await page.setViewportSize(viewport);
  await page.goto(server.address + path);
  return page;
}

/** Collects what no page may do. */
function watch(page: Page): void {
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) complaints.push(message.text());
  });
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== server.address) complaints.push(request.url());
  });
}

/** Returns the link that signs in once as the owner, and its token. */
export async function oneTimeLink(): Promise<{ readonly url: string; readonly token: string }> {
  const administrator = await server.administrator();
  return ok(await administrator.post('/v1/signin/links', { project: server.project }));
}

async function signIn(): Promise<SignedIn> {
  const context = ownerContexts.get(browser) ?? (await newContext(browser));
  ownerContexts.set(browser, context);
  await context.clearCookies();
  const { token } = await oneTimeLink();
  await send(context, '/v1/signin/link', { token });
  return { context, cookies: await context.cookies() };
}

/** A guard against a page that answers no more: Playwright waits for its scripts without a limit. */
const answerMs = 60_000;

/** Prepares the owner's context for the next test. One that does not answer is replaced, and fails this test only. */
async function reset(): Promise<void> {
  const { context } = owner;
  const late = new AbortController();
  const guard = setTimeout(answerMs, 'late', { signal: late.signal }).catch(() => 'late');
  const outcome = await Promise.race([forget(owner), guard]);
  late.abort();
  if (outcome !== 'late') return;
  complaints.push(`these pages do not answer: ${context.pages().map((page) => page.url())}`);
  ownerContexts.delete(browser);
  context.close().catch(() => undefined);
  owner = await signIn();
}

/** Closes the owner's pages, and forgets what they kept in the browser. */
async function forget({ context, cookies }: SignedIn): Promise<void> {
  await context.setOffline(false);
  const pages = context.pages();
  await pages[0]?.evaluate('localStorage.clear()');
  for (const page of pages) await page.close();
  await context.clearCookies();
  await context.addCookies(cookies);
}

/** Invites somebody as viewer, and returns the path that the mail's link leads to. */
export async function invite(email: string): Promise<string> {
  const inviting = await asOwner('/members');
  await inviting.getByLabel('Email').fill(email);
  await inviting.getByRole('button', { name: 'Invite' }).click();
  await inviting.getByRole('button', { name: `Withdraw the invitation of ${email}` }).waitFor();
  await inviting.close();
  return invitationOf(email);
}

/** Opens a path as a new member of the project, in a fresh browser context. */
export async function asMember(
  role: 'owner' | 'viewer',
  path: string,
  options: BrowserContextOptions = {},
): Promise<{ readonly page: Page; readonly email: string }> {
  const email = `${role}-${server.project}-${Date.now()}@example.com`;
  await send(owner.context, '/v1/invitations', { email, role });
  const [, token] = (await invitationOf(email)).split('#invitation=');
  const page = await newPage(options);
  await send(page.context(), '/v1/invitations/accept', { token, password: 'correct horse battery' });
  await page.goto(server.address + path);
  return { page, email };
}

/** Opens a path as a new viewer of the project. */
export const asViewer = async (path: string, options?: BrowserContextOptions): Promise<Page> =>
  (await asMember('viewer', path, options)).page;

/** Returns the path and fragment of the invitation's link. The mail is written after the answer. */
async function invitationOf(email: string): Promise<string> {
  return until(async () => {
    for (const name of await readdir(server.outbox).catch(() => [])) {
      const mail = name.endsWith('.eml') ? await readFile(join(server.outbox, name), 'utf8') : '';
      const link = mail.includes(email) && /\/account\S*#invitation=[\w-]+/.exec(mail)?.[0];
      if (link) return link;
    }
    return undefined;
  });
}

/**
 * Resolves when the page has said this because of the action. The page says it for six seconds, which a busy machine
 * may need after the action, so the wait begins with it.
 */
export async function says(page: Page, text: string, action: Promise<void>): Promise<void> {
  await Promise.all([page.getByText(text).waitFor(), action]);
}

/** Lets the server do the next change, and cuts the connection before its answer. */
async function loseNextAnswer(page: Page): Promise<void> {
  let isLost = false;
  await page.route('**/v1/**', async (route) => {
    if (isLost || route.request().method() === 'GET') return route.fallback();
    isLost = true;
    // The cookies of a lost answer are lost as well.
    const cookies = await page.context().cookies();
    await route.fetch();
    await page.context().clearCookies();
    await page.context().addCookies(cookies);
    return route.abort('connectionreset');
  });
}

/** Does what makes a change, whose answer is lost, and does it again. */
export async function twice(page: Page, act: () => Promise<void>): Promise<void> {
  await loseNextAnswer(page);
  await act();
  await page.getByText('The server did not answer. Try again').waitFor();
  await page.unrouteAll();
  await act();
}

/** Returns by how many pixels the view is wider than its place, in which it scrolls. */
export const overflowPx = (page: Page): Promise<number> =>
  page.getByRole('main').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);

/** Returns how many pixels of a table are beside its place, in which it scrolls. */
export const besideTablePx = (within: Page | Locator): Promise<number> =>
  within
    .locator('.table-wrap')
    .first()
    .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);

/** Resolves when no colour changes any more: those on the way are not the ones to judge. */
const ended = `Promise.allSettled(document.getAnimations()
  .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity)
  .map(({ finished }) => finished)).then(() => undefined)`;

/** Returns the accessibility rules that the page breaks seriously, with the elements. */
export async function seriousFindings(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  await page.evaluate(ended);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: AxeViolation[] }> } };
    const { violations } = await axe.run({ resultTypes: ['violations'] });
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
