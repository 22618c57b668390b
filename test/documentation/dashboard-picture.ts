/**
 * Records README's picture of the dashboard: `npm run pictures`. With `--serve` it prints a link that signs in, and
 * waits for Ctrl-C.
 *
 * Starts a server on a temporary folder, loads the demo's city, replays a week of its fleet, lets the fleet drive on,
 * opens the dashboard in Chromium, and writes `docs/images/dashboard.png` at two pixels for each CSS pixel.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import sharp from 'sharp';
import { type ApiClient, createApiClient } from '../../demo/api-client.js';
import { startDrive } from '../../demo/drive.js';
import { createTally } from '../../demo/tally.js';
import { dayMs } from '../../schemas/durations.js';
import { createRandom } from '../../schemas/random.js';
import { launchServer } from '../../server/server-process.js';
import { buildCity, type City, type CityResource } from '../../simulation/city.js';
import { createFleet, type Device } from '../../simulation/fleet.js';
import { chromiumPath, softwareGraphics } from '../../testing/chromium.js';
import { Client, ok } from '../support/client.js';
import { adminApiKeyIn } from '../support/server.js';
import { pastOf } from './fleet-past.js';

const fleetSize = 160;
const pastDays = 7;
const linesPerUpload = 20_000;
const driveRate = 60;
const maxPictureBytes = 300_000;
const picture = { path: 'docs/images/dashboard.png', width: 1280, height: 1308, scale: 2, colors: 256 };

async function put(client: ApiClient, path: string, body: object): Promise<void> {
  const { status, body: answer } = await client.call('PUT', path, body);
  if (status !== 200) throw new Error(`PUT ${path}: ${status} ${JSON.stringify(answer)}`);
}

async function load(client: ApiClient, { geofences, beacons }: City): Promise<void> {
  await put(client, '/v1/settings', { dwellEvents: true });
  const pathOf = (kind: string, { tag, externalId }: CityResource) => `/v1/${kind}/${tag}/${externalId}`;
  for (const each of geofences) await put(client, pathOf('geofences', each), each.fields);
  for (const each of beacons) await put(client, pathOf('beacons', each), each.fields);
}

async function uploadPast(client: Client, fleet: readonly Device[]): Promise<void> {
  const toMs = Date.now();
  const lines: object[] = [];
  const send = async () => {
    const { rejected } = ok(await client.bulk(lines.splice(0)));
    if (rejected > 0) throw new Error(`${rejected} locations were rejected`);
  };
  for (const fix of pastOf(fleet, { fromMs: toMs - pastDays * dayMs, toMs }, createRandom(1))) {
    lines.push(fix);
    if (lines.length === linesPerUpload) await send();
  }
  await send();
}

/** Opens the dashboard by a one-time link, and returns its picture as PNG. */
async function record(link: string): Promise<Buffer> {
  const browser = await chromium.launch({
    executablePath: chromiumPath,
    args: ['--no-sandbox', ...softwareGraphics],
  });
  try {
    const { width, height, scale } = picture;
    const context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor: scale });
    const page = await context.newPage();
    await page.goto(link);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Analytics' }).click();
    await page.getByRole('heading', { level: 1, name: 'Analytics' }).waitFor();
    for (const each of [0, 1, 2]) await page.getByRole('figure').nth(each).waitFor();
    await page.waitForLoadState('networkidle');
    return await page.screenshot();
  } finally {
    await browser.close();
  }
}

/** Compresses the picture, with fewer colours until it is small enough for README. */
async function compressed(png: Buffer): Promise<Buffer> {
  for (let colors = picture.colors; colors >= 16; colors /= 2) {
    const bytes = await sharp(png).png({ palette: true, colors, effort: 10, compressionLevel: 9 }).toBuffer();
    if (bytes.length < maxPictureBytes) return bytes;
  }
  throw new Error(`the picture is larger than ${maxPictureBytes} bytes`);
}

const dataFolder = await mkdtemp(join(tmpdir(), 'fenceline-picture-'));
const server = launchServer({
  program: fileURLToPath(new URL('../../cli/main.js', import.meta.url)),
  dataFolder,
  environment: { FENCELINE_LOG_LEVEL: 'warn', FENCELINE_WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.1' },
});
try {
  const { address, keys } = await server.ready;
  if (!keys) throw new Error('the server printed no keys');
  const backend = createApiClient(address, keys.test_secret, 16);
  const phones = createApiClient(address, keys.test_publishable, 16);
  const city = buildCity();
  const fleet = createFleet(city, fleetSize);
  await load(backend, city);
  await uploadPast(new Client(() => address, keys.test_secret), fleet);
  const drive = startDrive({
    client: phones,
    fleet,
    rate: driveRate,
    tally: createTally(),
    onEvent: () => {},
    onProblem: (message) => console.error(message),
  });
  const administrator = new Client(() => address, await adminApiKeyIn(dataFolder));
  const { projects } = ok(await administrator.get('/v1/projects'));
  const { url } = ok(await administrator.post('/v1/signin/links', { project: projects[0]._id }));
  if (process.argv.includes('--serve')) {
    console.log(`${url}\n${keys.test_secret}`);
    await new Promise((resolve) => process.once('SIGINT', resolve));
  } else {
    const bytes = await compressed(await record(url));
    await writeFile(picture.path, bytes);
    console.log(`${picture.path}: ${Math.round(bytes.length / 1000)} kB`);
  }
  await drive.stop();
  backend.close();
  phones.close();
} finally {
  await server.stop();
  await rm(dataFolder, { recursive: true, force: true });
}
