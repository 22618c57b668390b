/** Runs the examples of docs/subscribers.md against a server: each prints every event once. */
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { until } from '../../testing/until.js';
import type { Json } from '../support/client.js';
import { circle, standing } from '../support/places.js';
import { program } from '../support/program.js';
import { SharedServer } from '../support/shared-server.js';

const guide = readFileSync(new URL('../../docs/subscribers.md', import.meta.url), 'utf8');
const blocks = (language: string): string[] =>
  [...guide.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text]) => text as string);
const [streamReader, consumer] = blocks('js') as [string, string];
const [shell, state] = blocks('sh') as [string, string];
/** Packages are found from here. */
const cwd = fileURLToPath(new URL('../..', import.meta.url));

let server: SharedServer;
beforeAll(async () => {
  server = await SharedServer.newProject();
  await server.as('test_secret').putGeofence('gate', circle(0, 0, 100));
});

/** Runs a program until the test ends. The result returns what it has printed. */
function run(program: string, options: string[]): () => string {
  const env = { ...process.env, FENCELINE: server.address, SK: server.keys.test_secret };
  const child = spawn(program, options, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes;
  });
  return () => output;
}
const runNode = (code: string) => run(process.execPath, ['--input-type=module', '--eval', code]);

let devices = 0;

/** Lets a new device enter. Returns the id of its event. */
async function enter(): Promise<string> {
  devices += 1;
  const { events } = await server.as('test_publishable').track({ deviceId: `phone/${devices}`, ...standing(0, 0) });
  return events[0]._id;
}

const idsIn = (output: string): string[] => output.split('\n').flatMap((line) => /[0-9a-f]{24}$/.exec(line) ?? []);

/**
 * Lets devices enter until the reader has printed one of their events, and then some more, which it must print. Returns
 * the ids of both.
 */
async function enterUntilSeen(output: () => string): Promise<{ early: string[]; later: string[] }> {
  const early: string[] = [];
  const isSeen = (id: string) => output().includes(id);
  await until(async () => {
    early.push(await enter());
    return early.some(isSeen);
  });
  const later = [await enter(), await enter(), await enter()];
  await until(() => later.every(isSeen));
  return { early, later };
}

it('the consumer of the topic prints every event once, decoded from its frame', async () => {
  const before = await enter();
  const output = runNode(consumer);
  const { early, later } = await enterUntilSeen(output);
  // Events of different partitions may arrive in any order.
  await until(() => [before, ...early].every((id) => output().includes(id)));
  expect(idsIn(output()).toSorted()).toEqual([before, ...early, ...later].toSorted());
  expect(output()).toMatch(/^topic [0-9a-f]{24}\/test\/phone\/1 user\.entered_geofence [0-9a-f]{24}$/m);
});

it('the reader of the stream prints every event after its connection once', async () => {
  const output = runNode(streamReader);
  const { early, later } = await enterUntilSeen(output);
  const seen = idsIn(output());
  expect(new Set(seen).size).toBe(seen.length);
  expect([...early, ...later]).toEqual(expect.arrayContaining(seen));
  expect(seen).toEqual(expect.arrayContaining(later));
  expect(output()).toMatch(/^stream user\.entered_geofence [0-9a-f]{24}$/m);
});

it('the curl command prints messages as the guide shows', async () => {
  const [line] = shell.split('\n') as [string];
  const output = run('bash', ['-c', line.replace('curl', 'exec curl --silent')]);
  await enterUntilSeen(output);
  expect(output()).toMatch(/^retry: 1000\nid: A[\w-]+\n\n/);
  expect(output()).toMatch(/^id: A[\w-]+\nevent: user\.entered_geofence\ndata: \{"_id":"[0-9a-f]{24}",.*\}\n\n/m);
});

it('the command prints a line for each event of the tag', async () => {
  const line = shell.split('\n').find((each) => each.includes('tail')) ?? '';
  const command = line.replace('npm run fenceline --', `exec "${process.execPath}" "${program}"`);
  await server.as('test_secret').putGeofence('duomo', circle(1, 1, 100), 'store');
  const output = run('bash', ['-c', command]);
  const device = server.as('test_publishable');
  let visitors = 0;
  await until(async () => {
    visitors += 1;
    await device.track({ deviceId: `visitor-${visitors}`, ...standing(1, 1) });
    return output().includes('visitor-');
  });
  expect(output()).toMatch(/^\d\d:\d\d:\d\d user\.entered_geofence +visitor-\d+ +store\/duomo +confidence 3$/m);
});

it('the calls answer where users were last, and how far evaluation is', async () => {
  await enter();
  const quiet = 'curl() { command curl --silent --show-error --fail-with-body "$@"; echo; }\n';
  const env = { ...process.env, FENCELINE: server.address, SK: server.keys.test_secret };
  const answers = execFileSync('bash', ['-e', '-c', quiet + state], { env, encoding: 'utf8' })
    .trim()
    .split('\n');
  const [{ positions }, { status }] = answers.map((line) => JSON.parse(line)) as [Json, Json];
  expect(positions).toBeInstanceOf(Array);
  // Five minutes.
  expect(status.intervalMs * status.locations.length).toBe(300_000);
});
