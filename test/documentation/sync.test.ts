/** What docs/exports.md and docs/sync.md show, against a server: the calls, the files and the settings. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfiguration } from '../../server/config/load.js';
import { type Client, type Json, ok } from '../support/client.js';
import { program } from '../support/program.js';
import { SharedServer } from '../support/shared-server.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-sync-guide-'));
const guideOf = (name: string): string => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
const blocksOf = (guide: string, language: string): string[] =>
  [...guide.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text]) => text as string);

const csv = 'description,type,tag,externalId,coordinates,radius\nA shop,circle,store,1,"[10,50]",100\n';
let server: SharedServer;
let api: Client;
/** Simulates the web server of the guide. */
let files: Server;

beforeAll(async () => {
  server = await SharedServer.newProject();
  api = server.withKey(server.keys.test_secret);
  files = createServer((_, response) => response.writeHead(200, { etag: '"1"' }).end(csv));
  await new Promise<void>((listening) => files.listen(0, '127.0.0.1', listening));
});
afterAll(() => {
  files.close();
  rmSync(folder, { recursive: true });
});

/** Runs the commands of a block one after the other. Returns what each prints. */
async function run(block: string): Promise<string[]> {
  const env = { ...process.env, SK: server.keys.test_secret, FENCELINE: server.address };
  const commands = block
    .replaceAll('https://example.com', `http://127.0.0.1:${(files.address() as AddressInfo).port}`)
    .replaceAll('npm run fenceline --', `"${process.execPath}" "${program}"`)
    .replaceAll('curl', 'curl -s')
    .replaceAll('\\\n', ' ')
    .trim();
  const printed: string[] = [];
  for (const line of commands.split('\n')) {
    const { stdout } = await promisify(execFile)('bash', ['-e', '-c', line], { cwd: folder, env });
    printed.push(stdout);
  }
  return printed;
}

const written = (name: string): string => readFileSync(join(folder, name), 'utf8');

describe('docs/sync.md', () => {
  const guide = guideOf('sync');

  it('has calls that sync a file', async () => {
    const [saved, requested, shown] = (await run(blocksOf(guide, 'sh')[0]!)).map((text): Json => JSON.parse(text));
    for (const answer of [saved, requested, shown])
      expect(answer.sync).toMatchObject({ protocol: 'http', enabled: true });
    // Both runs: that of the saved configuration, and the requested one.
    await expect
      .poll(async () => ok(await api.get('/v1/sync')).sync)
      .toMatchObject({ status: 'waiting', lastRun: { result: 'succeeded' } });
    expect(ok(await api.get('/v1/geofences/store/1')).geofence.description).toBe('A shop');
  });

  it('has a configuration of object storage that is accepted, without its credentials in the answer', async () => {
    const { sync } = ok(await api.put('/v1/sync', { ...JSON.parse(blocksOf(guide, 'json')[0]!), enabled: false }));
    expect(sync).toMatchObject({ protocol: 's3', hasCredentials: true, status: 'off' });
    expect(sync).not.toHaveProperty('secretAccessKey');
    expect(ok(await api.delete('/v1/sync')).meta.code).toBe(200);
  });

  it('has settings that are accepted', () => {
    const file = join(folder, 'settings.yaml');
    writeFileSync(file, blocksOf(guide, 'yaml')[0]!);
    expect(loadConfiguration({ flags: {}, environment: {}, file })).toMatchObject({ ok: true });
  });
});

describe('docs/exports.md', () => {
  it('has calls that write files in every format', async () => {
    const shop = { description: 'A shop', type: 'circle', coordinates: [10, 50], radius: 100 };
    const beacon = {
      description: 'A door',
      type: 'eddystone',
      uid: '0'.repeat(20),
      instance: '0'.repeat(12),
      coordinates: [10, 50],
    };
    ok(await api.put('/v1/geofences/store/2', shop));
    ok(await api.put('/v1/geofences/depot/3', shop));
    ok(await api.put('/v1/beacons/door/1', beacon));
    await run(blocksOf(guideOf('exports'), 'sh')[0]!);
    expect(written('geofences.csv')).toMatch(/^description,type,tag,externalId,/);
    expect(written('geofences.csv')).toContain('A shop,circle,depot,3,');
    expect(written('all.csv')).toBe(written('geofences.csv'));
    const tags = JSON.parse(written('stores.geojson')).features.map(({ properties }: Json) => properties.tag);
    expect(new Set(tags)).toEqual(new Set(['store']));
    expect(JSON.parse(written('beacons.ndjson'))).toMatchObject({ tag: 'door', externalId: '1', type: 'eddystone' });
  });
});
