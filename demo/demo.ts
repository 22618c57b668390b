/**
 * The demo: starts a server on a temporary folder, loads a city, drives a fleet through it, and prints the events.
 *
 * In: duration, number of devices, rate. Out: lines on standard output, with a check at the end that nothing was lost
 * or duplicated. City, fleet, tally and report are pure; server process, HTTP and terminal are separate.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { onFirstSignal } from '../schemas/end-signals.js';
import { type Keys, launchServer } from '../server/server-process.js';
import { painter } from '../server/terminal-text.js';
import { buildCity, type City, type CityResource } from '../simulation/city.js';
import { createFleet } from '../simulation/fleet.js';
import { type ApiClient, callTimeoutMs, createApiClient } from './api-client.js';
import { startDrive } from './drive.js';
import { meanLagMs, parseMetrics, type Samples } from './metrics.js';
import { closingAccount, eventLine, runningLine } from './report.js';
import { createTally, type Tally } from './tally.js';
import { readTotals } from './totals.js';

interface DemoOptions {
  /** Duration of the drive. Default: until Ctrl-C. */
  readonly seconds?: number;
  readonly devices?: number;
  /** Locations per second of the whole fleet. */
  readonly rate?: number;
}

const defaults = { devices: 500, rate: 200 };
const reportEveryMs = 5_000;
const maxSockets = 64;
const loadingAtOnce = 16;
const replyTimeoutMs = callTimeoutMs / 2;
const settings = { dwellEvents: true, bufferExits: true };

const paint = painter(process.stdout.isTTY === true && !process.env.NO_COLOR);
const print = (line: string) => console.log(line);

/**
 * Runs the demo. Sets the exit code to 1 if the check at the end fails. Ends and rejects with the reason of the signal
 * when the output can't be written.
 */
export async function demo(
  { seconds, devices = defaults.devices, rate = defaults.rate }: DemoOptions,
  outputLost: AbortSignal,
): Promise<void> {
  const interrupted = interruption(outputLost);
  const dataFolder = await mkdtemp(join(tmpdir(), 'fenceline-demo-'));
  const server = launchServer({
    program: fileURLToPath(new URL('../cli/main.js', import.meta.url)),
    dataFolder,
    // The totals compare the events in responses with the stored ones: responses wait for them on a busy machine too.
    environment: { FENCELINE_INGEST_REPLY_TIMEOUT_MS: String(replyTimeoutMs) },
  });
  try {
    const { address, keys } = await server.ready;
    if (!keys) throw new Error('the server printed no keys');
    print(`${paint('bold', 'Fenceline')} is running at ${paint('cyan', address)}, with its data in ${dataFolder}`);
    const addsUp = await runAgainst({ address, keys, devices, rate, seconds, interrupted, outputLost });
    if (!addsUp) process.exitCode = 1;
  } finally {
    await server.stop();
    await rm(dataFolder, { recursive: true, force: true });
  }
}

interface Run {
  readonly address: string;
  readonly keys: Keys;
  readonly devices: number;
  readonly rate: number;
  readonly seconds: number | undefined;
  readonly interrupted: Promise<void>;
  readonly outputLost: AbortSignal;
}

async function runAgainst({ address, keys, devices, rate, seconds, interrupted, outputLost }: Run): Promise<boolean> {
  const backend = createApiClient(address, keys.test_secret, loadingAtOnce);
  const phones = createApiClient(address, keys.test_publishable, maxSockets);
  const tally = createTally();
  try {
    const city = buildCity();
    await load(backend, city);
    print(`San Francisco is loaded: ${city.geofences.length} geofences, ${city.beacons.length} beacons`);
    print(`${devices} devices start, with ${rate} locations per second in total; Ctrl-C stops the demo\n`);

    const drive = startDrive({
      client: phones,
      fleet: createFleet(city, devices),
      rate,
      tally,
      onEvent(event) {
        tally.event(event._id, event.type);
        print(eventLine(event, paint));
      },
      onProblem: (message) => print(paint('red', message)),
    });
    const stopReporting = reportRegularly(backend, tally);
    await (seconds === undefined
      ? interrupted
      : Promise.race([interrupted, delay(seconds * 1_000, undefined, { ref: false })]));
    await drive.stop();
    stopReporting();
    outputLost.throwIfAborted();

    print(paint('dim', '\nchecking the totals …'));
    const { lines, addsUp } = closingAccount(tally.summary(), await readTotals(backend, tally.eventIds()), paint);
    for (const line of lines) print(line);
    return addsUp;
  } finally {
    backend.close();
    phones.close();
  }
}

/** Loads the settings, then geofences and beacons concurrently. */
async function load(client: ApiClient, { geofences, beacons }: City): Promise<void> {
  await put(client, '/v1/settings', settings);
  const waiting = [
    ...geofences.map((resource) => ({ path: 'geofences', resource })),
    ...beacons.map((resource) => ({ path: 'beacons', resource })),
  ].values();
  const worker = async () => {
    for (const { path, resource } of waiting) await put(client, `/v1/${path}/${pairPath(resource)}`, resource.fields);
  };
  await Promise.all(Array.from({ length: loadingAtOnce }, worker));
}

const pairPath = ({ tag, externalId }: CityResource) => `${encodeURIComponent(tag)}/${encodeURIComponent(externalId)}`;

async function put(client: ApiClient, path: string, body: object): Promise<void> {
  const answer = await client.call('PUT', path, body);
  if (answer.status !== 200) throw new Error(`PUT ${path}: ${answer.status} ${JSON.stringify(answer.body?.meta)}`);
}

/** Prints a line every few seconds. Returns a function that stops it. */
function reportRegularly(client: ApiClient, tally: Tally): () => void {
  const startedAtMs = performance.now();
  let takenAtMs = startedAtMs;
  let before: Samples = new Map();
  const timer = setInterval(async () => {
    const after = await client.call('GET', '/metrics').then(
      ({ body }) => parseMetrics(body),
      () => before,
    );
    const nowMs = performance.now();
    const reading = {
      elapsedS: (nowMs - startedAtMs) / 1_000,
      windowS: (nowMs - takenAtMs) / 1_000,
      window: tally.takeWindow(),
      summary: tally.summary(),
      lagMs: meanLagMs(before, after),
    };
    print(runningLine(reading, paint));
    before = after;
    takenAtMs = nowMs;
  }, reportEveryMs);
  return () => clearInterval(timer);
}

/** Resolves on a signal that ends processes, and when nobody reads the output. A second signal ends it at once. */
function interruption(outputLost: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    outputLost.addEventListener('abort', () => resolve(), { once: true });
    onFirstSignal(() => resolve());
  });
}
