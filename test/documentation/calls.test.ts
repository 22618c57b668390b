/**
 * What guides without a test of their own show, against a server: their calls, and the commands and settings for
 * operators.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfiguration } from '../../server/config/load.js';
import { ok } from '../support/client.js';
import { program } from '../support/program.js';
import { SharedServer } from '../support/shared-server.js';

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`(?:${language})\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, block]) => block as string,
  );
const commandsOf = (block: string): string[] => block.replaceAll('\\\n', ' ').trim().split('\n');

/** Guides whose calls have a test of their own, because it looks at what they answer. */
const testedElsewhere: Readonly<Record<string, string>> = {
  'README.md': 'test/documentation/readme.test.ts',
  'docs/accounts.md': 'test/end-to-end/accounts.test.ts',
  'docs/addresses.md': 'test/documentation/places.test.ts',
  'docs/cluster.md': 'test/cluster/by-hand.test.ts',
  'docs/editing.md': 'test/documentation/editing.test.ts',
  'docs/erasure.md': 'test/end-to-end/erasure.test.ts',
  'docs/exports.md': 'test/documentation/sync.test.ts',
  'docs/imports.md': 'test/documentation/imports.test.ts',
  'docs/isochrones.md': 'test/documentation/isochrones.test.ts',
  'docs/maps.md': 'test/documentation/maps.test.ts',
  'docs/migrating-from-tile38.md': 'test/documentation/migrating.test.ts',
  'docs/migrating-from-traccar.md': 'test/documentation/migrating.test.ts',
  'docs/places.md': 'test/documentation/places.test.ts',
  'docs/replay.md': 'test/end-to-end/replay.test.ts',
  'docs/subscribers.md': 'test/documentation/subscribers.test.ts',
  'docs/sync.md': 'test/documentation/sync.test.ts',
  'docs/webhooks.md': 'test/documentation/webhooks.test.ts',
};

const guides = ['README.md', ...readdirSync(new URL('../../docs/', import.meta.url)).map((name) => `docs/${name}`)]
  .filter((path) => path.endsWith('.md'))
  .map((path) => ({ path, text: textOf(path) }));
const callsOf = (text: string): string[] => blocksOf(text, 'sh|bash').filter((block) => block.includes('$FENCELINE/'));

let server: SharedServer;
let env: NodeJS.ProcessEnv;
const folder = mkdtempSync(join(tmpdir(), 'fenceline-calls-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(async () => {
  server = await SharedServer.newProject();
  const { test_secret: SK, test_publishable: PK } = server.keys;
  const geofence = (tag: string) => ({
    description: 'Store',
    type: 'circle',
    coordinates: [11.25, 43.77],
    radius: 120,
    tag,
  });
  const client = server.as('test_secret');
  ok(await client.put('/v1/geofences/store/duomo', geofence('store')));
  ok(await client.put('/v1/geofences/store/2', geofence('store')));
  const { meta } = ok(await client.get('/v1/geofences?limit=1'));
  env = {
    ...process.env,
    ...{ FENCELINE: server.address, SK, PK, CURSOR: meta.cursor },
    // The disk of the machine that runs the test may be in any state.
    ...{ FENCELINE_STORAGE_MIN_FREE_BYTES: '1048576', FENCELINE_STORAGE_MIN_FREE_PERCENT: '0' },
    ...{ FENCELINE_ADDRESS: server.address, FENCELINE_ADMIN_API_KEY: server.adminApiKey },
  };
});

/** Runs a command of a guide as it is written, in an empty folder. Rejects with what it prints if it fails. */
async function run(command: string): Promise<string> {
  const written = command
    .replaceAll(/\bcurl /g, 'curl --silent --show-error --fail-with-body ')
    .replaceAll(/\b(npm run fenceline --|fenceline(?= [a-z]))/g, `"${process.execPath}" "${program}"`)
    .replaceAll('PROJECT_ID', server.project);
  const { stdout } = await promisify(execFile)('bash', ['-e', '-c', written], { cwd: folder, env });
  return stdout;
}

describe('calls of the guides', () => {
  it.each(Object.entries(testedElsewhere))('%s has a test of its own', (path, test) => {
    const guide = guides.find((each) => each.path === path);
    expect(callsOf(guide?.text ?? '')).not.toEqual([]);
    expect(textOf(test)).toContain(path.replace(/^docs\/|\.md$/g, ''));
  });

  const rest = guides.flatMap(({ path, text }) =>
    path in testedElsewhere
      ? []
      : callsOf(text)
          .flatMap(commandsOf)
          .map((command) => [path, command] as const),
  );
  it.each(rest)('%s: %s', async (_, command) => {
    await run(command);
  });
});

describe('settings of the guides', () => {
  // kubernetes.md has values of the chart, and cluster.md names files.
  const files = guides
    .filter(({ path }) => !/kubernetes|cluster/.test(path))
    .flatMap(({ path, text }) => blocksOf(text, 'yaml').map((block) => [path, block] as const));
  it.each(files)('%s: %s', (_, block) => {
    const file = join(folder, 'of-a-guide.yaml');
    writeFileSync(file, block);
    expect(loadConfiguration({ flags: {}, environment: {}, file })).toMatchObject({ ok: true });
  });
});

it.each(blocksOf(textOf('docs/operations.md'), 'sh').slice(0, 3).flatMap(commandsOf))(
  'docs/operations.md: %s',
  async (command) => {
    expect(await run(command)).not.toBe('');
  },
);
