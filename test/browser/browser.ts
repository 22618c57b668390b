/** Chromium for tests: a headless browser of the system, and a web page on another origin. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { chromiumPath, missingBrowser, softwareGraphics } from '../../testing/chromium.js';

const flags = [
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  ...softwareGraphics,
  // Pages are drawn without WebGL's engine, which takes more of the processor.
  '--disable-gpu-compositing',
  '--disable-gpu-rasterization',
  // Pages live for seconds: to optimise their code takes longer than it saves.
  '--js-flags=--no-opt --no-maglev',
];

/** The processor draws everything: a quarter of the pixels is enough for tests. */
const fewPixels = { deviceScaleFactor: 0.5 };

/**
 * Returns whether Chromium is installed. Without it, browser suites are skipped with a warning. In CI it returns true,
 * so that they fail instead.
 */
export function hasBrowser(): boolean {
  if (missingBrowser === undefined || process.env.CI) return true;
  console.warn(`SKIPPED: ${missingBrowser}`);
  return false;
}

/** A guard against hanging: a browser on a busy machine takes long. */
const timeoutMs = 200_000;

/** It ends with this process. */
let browser: Promise<Browser> | undefined;

/** Returns the browser that all files of this process share. A start costs seconds of processor time. */
export async function sharedBrowser(): Promise<Browser> {
  const running = await browser?.catch(() => undefined);
  // After a crash only the file fails that met it.
  if (running?.isConnected()) return running;
  browser = chromium.launch({ executablePath: chromiumPath, headless: true, args: flags, timeout: timeoutMs });
  return browser;
}

/** Opens a browser context, by default with a quarter of the pixels. */
export async function newContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext({ ...fewPixels, ...options });
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

/** Serves a shop's web page that loads the SDK exactly as it was published. */
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
