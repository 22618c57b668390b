/**
 * docs/backup.md: a node is backed up while locations arrive. The restored node has each location that was acknowledged
 * before, once, with the events of the original, and goes on.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { openEmbedded } from '../../backends/embedded/embedded.js';
import { type Topic, topics } from '../../pipeline/ports.js';
import { analyticsSinkGroup } from '../../pipeline/stages/analytics/sink.js';
import { restore } from '../../server/backup/restore.js';
import type { Keys } from '../../server/server-process.js';
import { until } from '../../testing/until.js';
import { differences, repeated } from '../ledger/differences.js';
import { type Ledger, readLedger } from '../ledger/ledger.js';
import { configure, Progress, send, type Target } from '../ledger/sender.js';
import { embeddedSources } from '../ledger/sources.js';
import { everyLocationOnce } from '../ledger/verdict.js';
import { buildWorkload, type Report } from '../ledger/workload.js';
import { Client } from '../support/client.js';
import { program } from '../support/program.js';
import { adminApiKeyIn, TestServer } from '../support/server.js';

const size = { devices: 40, locationsPerDevice: 40 };
const total = size.devices * size.locationsPerDevice;
const partitions = 4;
const environment = { FENCELINE_LOCATIONS_PARTITIONS: `${partitions}` };
/** The sending takes at least this long, so that it goes on while the backup runs. */
const sendingMs = 6_000;
const workload = buildWorkload(3, size, Math.floor(Date.now() / 1_000) * 1_000 - 60_000);
const deviceIds = Array.from({ length: size.devices }, (_, index) => `device-${index}`);

const folder = mkdtempSync(join(tmpdir(), 'fenceline-backup-'));
const backup = join(folder, 'monday');
const key = join(folder, 'encryption-key');
const servers: TestServer[] = [];
afterAll(async () => {
  await Promise.all(servers.map((server) => server.dispose()));
  rmSync(folder, { recursive: true });
});

const guide = readFileSync(new URL('../../docs/backup.md', import.meta.url), 'utf8');
const [backupCommand = '', restoreCommand = ''] = [...guide.matchAll(/```sh\n(.*)\n```/g)].map(
  ([, line]) => line as string,
);

/** Runs a command of the guide on other folders. */
async function run(command: string, data: string, target = backup, address?: string): Promise<string> {
  const line = command
    .replace('fenceline ', `"${process.execPath}" "${program}" `)
    .replace('/backups/monday', target)
    .replace(/--data \S+/, `--data ${data}`)
    .replace('/safe/encryption-key', key);
  const env = { ...process.env, ...(address && { FENCELINE_ADDRESS: address }) };
  return (await promisify(execFile)('bash', ['-c', line], { env })).stdout;
}

const lineOf = ({ deviceId, updatedAtMs }: Pick<Report, 'deviceId' | 'updatedAtMs'>): string =>
  `${deviceId} ${new Date(updatedAtMs).toISOString()}`;

/** Remembers the locations that were acknowledged. */
class RecordingClient extends Client {
  constructor(
    address: () => string,
    key: string,
    readonly acknowledged: Set<string>,
  ) {
    super(address, key);
  }
  override async bulk(reports: readonly Report[]) {
    const answer = await super.bulk(reports);
    if (answer.status === 200) for (const report of reports) this.acknowledged.add(lineOf(report));
    return answer;
  }
  override async post(path: string, body: object) {
    const answer = await super.post(path, body);
    if (answer.status === 200 && path === '/v1/track') this.acknowledged.add(lineOf(body as Report));
    return answer;
  }
}

function targetOf(server: TestServer, keys: Keys, acknowledged = new Set<string>()): Target {
  return { as: (name) => new RecordingClient(() => server.address, keys[name], acknowledged) };
}

/** Waits until the running server has evaluated every location and stored every row. */
async function everythingIsStored(data: string): Promise<void> {
  const { log, positions, stateStore, close } = openEmbedded({ path: data, partitions });
  const isAtEnd = async (topic: Topic, offsetOf: (partition: number) => Promise<{ offset: number }>) => {
    for (let partition = 0; partition < partitions; partition++)
      if ((await offsetOf(partition)).offset < (await log.end(topic, partition))) return false;
    return true;
  };
  try {
    await until(() => isAtEnd(topics.locations, (partition) => stateStore.position(partition)));
    for (const topic of [topics.outcomes, topics.events])
      await until(() => isAtEnd(topic, (partition) => positions.get(analyticsSinkGroup, topic, partition)));
  } finally {
    await close();
  }
}

async function ledgerOf(data: string): Promise<Ledger> {
  return readLedger(await embeddedSources(data, partitions), deviceIds);
}

let original: TestServer;
let complete: Ledger;
const acknowledged = new Set<string>();
let acknowledgedBefore: string[] = [];
let printed = '';

beforeAll(async () => {
  original = await TestServer.start(environment);
  servers.push(original);
  await configure(original, workload);
  const progress = new Progress();
  const sending = send(targetOf(original, original.keys, acknowledged), workload, progress, sendingMs);
  await until(() => progress.acknowledged > total / 5);
  acknowledgedBefore = [...acknowledged];
  printed = await run(backupCommand, original.dataFolder, backup, original.address);
  await sending;
  await everythingIsStored(original.dataFolder);
  expect(await original.stop()).toEqual({ code: 0, signal: null });
  complete = await ledgerOf(original.dataFolder);
  cpSync(join(original.dataFolder, 'encryption-key'), key);
});

/** What a ledger says about these locations: a location or an event begins with its device and time. */
const about = (lines: readonly string[], locations: ReadonlySet<string>): string[] =>
  lines.filter((line) => locations.has(line.split(' ', 2).join(' ')));

const modesOf = (path: string): number[] =>
  readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => lstatSync(join(path, name)).mode & 0o077);

it('a restored node has everything acknowledged before the backup once, and continues', async () => {
  expect(printed).toMatch(/monday: \d+ files, .* MB, everything acknowledged before 20\S+Z\n.* encryption key/);
  expect([...new Set(modesOf(backup))]).toEqual([0]);
  expect(readdirSync(backup).sort()).toEqual(['analytics', 'backup.json', 'deliveries', 'log', 'state']);

  const server = await TestServer.start(environment, async (data) => void (await run(restoreCommand, data)));
  servers.push(server);
  const target = targetOf(server, original.keys);
  await everythingIsStored(server.dataFolder);
  await server.stop();
  const prefix = await ledgerOf(server.dataFolder);
  const held = new Set(prefix.locations.map((line) => line.split(' ', 2).join(' ')));
  const ids = new Set(complete.loggedIds);
  expect([
    ...differences(
      'acknowledged before the backup',
      acknowledgedBefore,
      acknowledgedBefore.filter((line) => held.has(line)),
    ),
    ...differences('restored locations', about(everyLocationOnce(workload), held), prefix.locations),
    ...differences('restored events', about(complete.events, held), prefix.events),
    ...differences('ids in ClickHouse', prefix.loggedIds, prefix.storedIds),
    ...repeated('ids', prefix.loggedIds),
    ...differences(
      'ids that the original did not have',
      [],
      prefix.loggedIds.filter((id) => !ids.has(id)),
    ),
  ]).toEqual([]);

  await server.restart();
  await send(target, workload, new Progress());
  await everythingIsStored(server.dataFolder);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  const { locations, events, states } = await ledgerOf(server.dataFolder);
  expect([
    ...differences('locations', everyLocationOnce(workload), locations),
    ...differences('events', complete.events, events),
    ...differences('states', complete.states, states),
  ]).toEqual([]);
});

it('a stopped node is backed up and restored completely', async () => {
  const [target, data] = [join(folder, 'stopped'), join(folder, 'restored')];
  // A full disk once left the engine's counter of snapshots empty, and every later backup failed.
  truncateSync(join(original.dataFolder, 'analytics', 'shadow', 'increment.txt'));
  await run(`${backupCommand} --include-keys`, original.dataFolder, target);
  await run(restoreCommand.replace(/--encryption-key \S+/, ''), data, target);
  expect(readFileSync(join(data, 'encryption-key'), 'utf8')).toBe(readFileSync(key, 'utf8'));
  expect(readFileSync(join(data, 'admin-api-key'), 'utf8').trim()).toBe(await adminApiKeyIn(original.dataFolder));
  expect(readdirSync(join(original.dataFolder, 'analytics', 'shadow'))).toEqual(['increment.txt']);
  expect(await ledgerOf(data)).toEqual(complete);
});

// It left a folder with almost all files, which looked like a backup.
it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('a backup that %s interrupts removes what it wrote', async (signal, status) => {
  const [data, target] = [join(folder, `slow-${signal}`), join(folder, `interrupted-${signal}`)];
  await run(restoreCommand, data);
  // The copy of a pipe that nobody writes to never ends, and everything else is copied before.
  await promisify(execFile)('mkfifo', [join(data, 'admin-api-key')]);
  const running = spawn(process.execPath, [program, 'backup', target, '--data', data, '--include-keys'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void running.kill('SIGKILL'));
  const ended = once(running, 'exit');
  let printed = '';
  running.stderr.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  await until(() => existsSync(join(target, 'encryption-key')));
  expect(readdirSync(target).sort()).toEqual(['analytics', 'deliveries', 'encryption-key', 'log', 'state']);

  running.kill(signal);
  await until(() => printed !== '' || running.signalCode !== null);
  expect(printed).toBe('fenceline: interrupted; nothing is left of the backup\n');
  expect(existsSync(target)).toBe(false);
  expect(readdirSync(join(data, 'analytics', 'shadow'))).toEqual(['increment.txt']);
  // Ends the copy, for which an exit waits.
  writeFileSync(join(data, 'admin-api-key'), '');
  expect(await ended).toEqual([status, null]);
});

it('a backup that cannot be restored completely is refused, and nothing is written', async () => {
  const data = join(folder, 'none');
  const attempt = (given: Partial<Parameters<typeof restore>[0]> = {}) =>
    restore({ backup, data, encryptionKeyPath: key, ...given });
  const copy = (name: string): string => {
    cpSync(backup, join(folder, name), { recursive: true });
    return join(folder, name);
  };
  const otherKey = join(folder, 'other-key');
  writeFileSync(otherKey, 'ab'.repeat(32));
  await expect(attempt({ encryptionKeyPath: undefined })).rejects.toThrow(/has no encryption key/);
  await expect(attempt({ encryptionKeyPath: otherKey })).rejects.toThrow('the encryption key is not the one');
  await expect(attempt({ data: backup })).rejects.toThrow(/is not empty/);
  await expect(attempt({ backup: folder })).rejects.toThrow(/has no backup.json/);
  const changed = copy('changed');
  appendFileSync(join(changed, 'log', 'data.mdb'), 'x');
  await expect(attempt({ backup: changed })).rejects.toThrow(/1 files are missing or differ.*log\/data.mdb/);
  const newer = copy('newer');
  writeFileSync(join(newer, 'backup.json'), '{"format":2}');
  await expect(attempt({ backup: newer })).rejects.toThrow(/has format 2/);
  expect(readdirSync(folder)).not.toContain('none');
  await expect(run(backupCommand, data, join(folder, 'tuesday'))).rejects.toThrow(/is not a data folder/);
});
