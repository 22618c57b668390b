/** Chromium for tests: a headless browser of the system, and a web page on another origin. */
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Returns whether Chromium is installed. Without it, browser suites are skipped with a warning. In CI it returns true,
 * so that they fail instead.
 */
export function hasBrowser(): boolean {
  if (existsSync(executablePath) || process.env.CI) return true;
  console.warn(`SKIPPED: no browser at ${executablePath}. "apt-get install chromium", or set CHROMIUM_PATH.`);
  return false;
}

/** Flags with which pages have WebGL, drawn by the processor as on servers. */
export const withSoftwareGraphics = [
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--ignore-gpu-blocklist',
];

/** A guard against hanging: a browser on a busy machine takes long. */
const timeoutMs = 200_000;

/** The browsers of this process, by their flags. They end with it. */
const browsers = new Map<string, Promise<Browser>>();

/** Returns the browser that all files of this process share. A start costs seconds of processor time. */
export async function sharedBrowser(more: readonly string[] = []): Promise<Browser> {
  const key = more.join(' ');
  const running = await browsers.get(key);
  // After a crash only the file fails that met it.
  if (running?.isConnected()) return running;
  const launched = launchBrowser(more);
  browsers.set(key, launched);
  launched.catch(() => browsers.delete(key));
  return launched;
}

function launchBrowser(more: readonly string[]): Promise<Browser> {
  const graphics = more.length > 0 ? flags.filter((flag) => flag !== '--disable-gpu') : flags;
  return chromium.launch({ executablePath, headless: true, args: [...graphics, ...more], timeout: timeoutMs });
}

export async function newContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(timeoutMs);
  return context;
}

const openedHere = new Set<BrowserContext>();

/** Opens a page in a fresh browser context. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await newContext(browser, options);
  openedHere.add(context);
  return context.newPage();
}

/** Closes all pages of {@link openPage}. */
export async function closePages(): Promise<void> {
  const contexts = [...openedHere];
  openedHere.clear();
  await Promise.all(contexts.map((context) => context.close()));
}

export interface WebPage {
  /** Not the API's: every call of the page is cross-origin. */
  readonly origin: string;
  close(): void;
}

/** Options of the web SDK, in seconds: by default it gives up after ten, which a busy machine may take. */
export const patientSdk = { networkTimeoutInterval: 300 };

const sdkPath = fileURLToPath(new URL('../../node_modules/radar-sdk-js/dist/radar.js', import.meta.url));
const html = `<!doctype html><title>A shop</title>
<script type="module">import Radar from '/radar.js'; globalThis.Radar = Radar;</script>`;

/** A shop's web page that loads the SDK exactly as it was published. */
export async function serveWebPage(): Promise<WebPage> {
  const sdk = readFileSync(sdkPath);
  const server = createServer((request, response) => {
    if (request.url === '/radar.js') response.setHeader('content-type', 'text/javascript').end(sdk);
    else if (request.url === '/') response.setHeader('content-type', 'text/html').end(html);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, close: () => server.close() };
}
