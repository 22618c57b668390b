/** What `fenceline doctor` says about one machine. The services of a cluster: test/cluster/doctor.test.ts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Compression } from 'pmtiles';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pmtilesBytes } from '../../renderer/testing/archives.js';
import { loadConfiguration } from '../config/load.js';
import type { Configuration } from '../config/schema.js';
import { lockFolder } from '../data-folder/lock.js';
import { compareClock } from './clock.js';
import { diagnose } from './doctor.js';
import type { Finding } from './finding.js';
import { checkMapData } from './others.js';

let folder: string;
const servers: Server[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fenceline-doctor-'));
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  rmSync(folder, { recursive: true, force: true });
});

function configured(environment: Readonly<Record<string, string>> = {}): Configuration {
  const loaded = loadConfiguration({
    flags: {},
    environment: {
      FENCELINE_PORT: '0',
      FENCELINE_DATA: join(folder, 'data'),
      // Of the machine that runs the test, only the disk may be in any state.
      FENCELINE_STORAGE_MIN_FREE_BYTES: '1048576',
      FENCELINE_STORAGE_MIN_FREE_PERCENT: '0',
      ...environment,
    },
  });
  if (!loaded.ok) throw new Error(loaded.problems.join());
  return loaded.configuration;
}

async function findings(environment?: Readonly<Record<string, string>>): Promise<Finding[]> {
  const found: Finding[] = [];
  for await (const finding of diagnose(configured(environment))) found.push(finding);
  return found;
}
const notOk = (found: readonly Finding[]) => found.filter(({ level }) => level !== 'ok');
const about = (found: readonly Finding[], subject: string) => found.filter((finding) => finding.subject === subject);

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as { port: number }).port;
}
async function closedPort(): Promise<number> {
  const server = createTcpServer();
  const port = await listening(server);
  await new Promise((resolve) => servers.pop()!.close(resolve));
  return port;
}

describe('an embedded node', () => {
  it('has nothing to repair on a machine that runs these tests', async () => {
    const found = await findings();
    expect(notOk(found)).toEqual([]);
    expect(new Set(found.map(({ subject }) => subject))).toEqual(new Set(['machine', 'data folder', 'map data']));
  });

  it('gives a remedy with every warning and failure', async () => {
    writeFileSync(join(folder, 'data'), '');
    const found = notOk(await findings({ FENCELINE_MAPS_ARCHIVE: join(folder, 'no.pmtiles') }));
    expect(found.map(({ subject }) => subject)).toEqual(['data folder', 'map data']);
    for (const { remedy } of found) expect(remedy).not.toBe('');
  });

  it('fails for files that settings name and that are missing', async () => {
    const missing = join(folder, 'no.mmdb');
    const [failure] = notOk(await findings({ FENCELINE_GEOCODING_IP_DATABASE: missing }));
    expect(failure).toEqual({
      level: 'failure',
      subject: 'geocoding',
      text: `${missing} can't be read: there is no such file or folder: GET /v1/geocode/ip fails`,
      remedy: 'Correct geocoding.ipDatabase, or put there what it names.',
    });
  });

  it.each(['.pmtiles', '.mbtiles'])('fails for an archive %s that is there and is none', async (extension) => {
    const archive = join(folder, `broken${extension}`);
    writeFileSync(archive, 'The download ended with a page of the proxy.'.repeat(100));
    const [failure, ...others] = about(await findings({ FENCELINE_MAPS_ARCHIVE: archive }), 'map data');
    expect(failure).toMatchObject({ level: 'failure', remedy: 'Correct maps.archive, or put there what it names.' });
    expect(failure?.text).toMatch(/^\/.*\/broken\.\w+ can't be read: .+: maps fail$/);
    expect(others).toEqual([]);
  });

  it('opens an archive that can be read, and warns of one without attribution', async () => {
    const archive = join(folder, 'country.pmtiles');
    const tile = { zoom: 0, x: 0, y: 0, bytes: new Uint8Array() };
    const opened = async (attribution: string, environment = {}) => {
      writeFileSync(archive, pmtilesBytes([tile], { vector_layers: [], attribution }, Compression.None));
      return about(await findings({ FENCELINE_MAPS_ARCHIVE: archive, ...environment }), 'map data');
    };
    const ok = { level: 'ok', text: `${archive} can be read` };
    expect(await opened('© Somebody')).toMatchObject([ok]);
    expect(await opened('')).toMatchObject([ok, { level: 'warning', remedy: 'Set maps.archiveAttribution.' }]);
    expect(await opened('', { FENCELINE_MAPS_ARCHIVE_ATTRIBUTION: '© Somebody' })).toMatchObject([ok]);
  });

  it('looks for the archive only where maps are drawn', async () => {
    const environment = { FENCELINE_BACKEND: 'cluster', FENCELINE_MAPS_ARCHIVE: join(folder, 'on-others.pmtiles') };
    const told = async (roles: string): Promise<Finding[]> => {
      const found: Finding[] = [];
      for await (const finding of checkMapData(configured({ ...environment, FENCELINE_ROLES: roles })))
        found.push(finding);
      return found;
    };
    expect(await told('pipeline')).toEqual([]);
    writeFileSync(join(folder, 'on-others.pmtiles'), '');
    expect(await told('api')).toMatchObject([{ level: 'failure' }]);
  });

  it('tells a folder that a node uses from one that nobody uses', async () => {
    const say = async () => about(await findings({ FENCELINE_DATA: folder }), 'data folder').map(({ text }) => text);
    expect(await say()).toContain(`${folder} is not in use`);
    await lockFolder(folder);
    expect(await say()).toContain(`${folder} is in use by a running node`);
  });

  // The command ended with status 0: nothing was read, and nothing was wrong.
  it('fails to read the data of a folder that has none', async () => {
    const found: Finding[] = [];
    for await (const finding of diagnose(configured(), { readsData: true })) found.push(finding);
    expect(notOk(found)).toMatchObject([
      { level: 'failure', subject: 'stored data', text: `${join(folder, 'data')} has nothing that a node has stored` },
    ]);
  });

  it('names a file of the node that it cannot use', async () => {
    writeFileSync(join(folder, 'log'), '');
    const found = notOk(await findings({ FENCELINE_DATA: folder }));
    expect(found.map(({ level, text, remedy }) => [level, text, remedy])).toEqual([
      ['failure', `${join(folder, 'log')}: it, or a folder above it, is a file`, 'Name a folder.'],
    ]);
  });

  it('fails when the disk has less than the minimum free space', async () => {
    const [failure] = notOk(await findings({ FENCELINE_STORAGE_MIN_FREE_BYTES: `${2 ** 50}` }));
    expect(failure).toMatchObject({ level: 'failure', subject: 'data folder' });
  });

  it('knows a ready node from another program on its port', async () => {
    const node = createServer((_, response) => void response.end('{"status":"ready"}'));
    const other = createServer((_, response) => void response.end('hello'));
    const say = async (port: number) => about(await findings({ FENCELINE_PORT: `${port}` }), 'node')[0]?.level;
    expect(await say(await listening(node))).toBe('ok');
    expect(await say(await listening(other))).toBe('warning');
    expect(await say(await closedPort())).toBe('ok');
  });

  it('warns of a configured service that is out of reach', async () => {
    const port = await closedPort();
    const found = await findings({
      FENCELINE_GEOCODING_PROVIDER: 'photon',
      FENCELINE_GEOCODING_URL: `http://127.0.0.1:${port}`,
    });
    expect(notOk(found)).toEqual([
      {
        level: 'warning',
        subject: 'geocoding',
        text: `127.0.0.1:${port} can't be reached (ECONNREFUSED)`,
        remedy: 'Check geocoding.url, and the service.',
      },
    ]);
  });

  it('warns of a collector of traces that is out of reach', async () => {
    const collector = createServer((_, response) => void response.end());
    const say = async (port: number) => {
      const found = await findings({ FENCELINE_TRACING_ENDPOINT: `http://127.0.0.1:${port}/v1/traces` });
      return about(found, 'traces').map(({ level }) => level);
    };
    expect(await say(await listening(collector))).toEqual(['ok']);
    expect(await say(await closedPort())).toEqual(['warning']);
  });
});

describe('a cluster node', () => {
  it('names every service that is out of reach, and the settings that contradict each other', async () => {
    const address = `127.0.0.1:${await closedPort()}`;
    const cluster = {
      FENCELINE_BACKEND: 'cluster',
      FENCELINE_KAFKA_BROKERS: address,
      FENCELINE_REDIS_NODES: address,
      FENCELINE_REGISTRY_URL: `http://${address}`,
      FENCELINE_CLICKHOUSE_URL: `http://${address}`,
    };
    const unreached = notOk(await findings(cluster)).map(({ level, subject }) => `${level} ${subject}`);
    expect(unreached).toEqual(
      expect.arrayContaining(['failure Kafka', 'failure registry', 'failure Redis', 'failure ClickHouse']),
    );
    const contradicting = notOk(await findings({ ...cluster, FENCELINE_KAFKA_SASL_MECHANISM: 'plain' }));
    expect(contradicting.map(({ text }) => text)).toContain(
      'kafka.saslMechanism: plain sends the password in clear: it requires kafka.tls',
    );
  });
});

describe('the comparison of clocks', () => {
  it.each([
    [0, 'ok'],
    [-900, 'ok'],
    [5_000, 'warning'],
    [-5_000, 'warning'],
  ])('calls a clock that is %i ms ahead %s', async (aheadMs, level) => {
    expect((await compareClock('Redis', async () => Date.now() + aheadMs)).level).toBe(level);
  });
});
