/**
 * Each command had its own way to call the server. `project list --address http://127.0.0.1:8080/` requested
 * `//v1/projects` while `export` accepted the address. An address that is no URL had two messages, an outage had three,
 * and one of those was a stack.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openEmbedded } from '../backends/embedded/embedded.js';
import { lockFolder } from '../server/data-folder/lock.js';
import { freePorts } from '../testing/services/ports.js';
import { type CommandDescription, CommandFailure, type Run, UsageError } from './command.js';
import { descriptions } from './descriptions.js';
import { adminAccessOf } from './server.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-server-'));
const data = join(folder, 'data');
mkdirSync(data);
const file = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
const place = { _id: 'p1', name: 'One', geometry: { type: 'Point', coordinates: [9.5, 47.1] } };

/** A form of each command that sends a request. `FOLDER` stands for an empty folder. */
const forms: readonly (readonly [string, readonly string[]])[] = [
  ['project', ['list']],
  ['places', ['import', file('places.ndjson', JSON.stringify(place))]],
  ['export', []],
  ['tail', []],
  ['import', [file('stores.csv', 'tag,externalId\n')]],
  ['migrate', ['radar', 'FOLDER']],
  ['migrate', ['compare']],
  ['backup', ['FOLDER']],
];

/** Paths that were requested of Fenceline. */
const requested: string[] = [];
let fenceline: HttpServer;
let radar: HttpServer;
let nobody: string;
const umask = process.umask();

const ofFenceline = { 'x-radar-request-id': '0' };

async function listening(
  answer: (url: string) => readonly [number, unknown],
  headers: Readonly<Record<string, string>> = ofFenceline,
): Promise<HttpServer> {
  const server = createServer((request, response) => {
    const [status, body] = answer(request.url ?? '');
    request.resume().once('end', () => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const addressOf = (server: HttpServer): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  fenceline = await listening((url) => {
    requested.push(url);
    return [404, { meta: { code: 404, message: 'nothing is here' } }];
  });
  const lists = { geofences: [], beacons: [], events: [] };
  radar = await listening(() => [200, { meta: { sdkConfiguration: { stopDetection: true } }, ...lists }], {});
  nobody = `http://127.0.0.1:${(await freePorts(1))[0]}`;
  // A backup calls the server only if one uses the data folder.
  await openEmbedded({ path: data, partitions: 1 }).close();
  await lockFolder(data);
});
afterAll(() => {
  fenceline.close();
  radar.close();
  process.umask(umask);
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  vi.stubEnv('FENCELINE_ADMIN_API_KEY', 'admin');
  for (const name of ['log', 'error'] as const) vi.spyOn(console, name).mockImplementation(() => {});
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Runs the form of a command with this address. Returns why it failed. */
async function failureOf(command: string, words: readonly string[], address: string): Promise<unknown> {
  const { run } = (await import(`./commands/${command}.ts`)) as { run: Run<CommandDescription['options']> };
  const filled = words.map((word) => (word === 'FOLDER' ? mkdtempSync(join(folder, 'empty-')) : word));
  const radarAccess = { 'radar-key': 'radar', 'radar-address': addressOf(radar) };
  const values = { address, key: 'key', data, ...radarAccess };
  return run(values as never, filled).catch((error: unknown) => error);
}

test('the forms have every command that takes an address', () => {
  const all = Object.entries(descriptions).filter(([, { options }]) => 'address' in options);
  expect(new Set(forms.map(([name]) => name))).toEqual(new Set(all.map(([name]) => name)));
});

describe.each(forms)('%s %j', (command, words) => {
  test.each(['/below', '/below/'])('requests paths below %s', async (path) => {
    requested.length = 0;
    expect(await failureOf(command, words, addressOf(fenceline) + path)).toBeInstanceOf(CommandFailure);
    expect(requested).not.toEqual([]);
    for (const url of requested) expect(url).toMatch(/^\/below\/v1\//);
  });

  // The second one is a URL, whose scheme is localhost.
  test.each(['nonsense', 'localhost:8080'])('refuses the address %s', async (address) => {
    const message = `--address must be a URL such as http://127.0.0.1:8080, not ${address}`;
    expect(await failureOf(command, words, address)).toEqual(new UsageError(message));
  });

  // An export was the page, tail waited for events forever, and others printed a stack.
  test.each([{}, [], null, '<html>'])('reports that a server that answers %j is not Fenceline', async (body) => {
    const other = await listening(() => [200, body], {});
    onTestFinished(() => void other.close());
    const address = addressOf(other);
    const failure = (await failureOf(command, words, address)) as Error;
    expect(failure).toBeInstanceOf(CommandFailure);
    expect([
      `the server at ${address} is not Fenceline`,
      `${address} does not answer with a stream of events`,
    ]).toContain(failure.message);
  });

  // It followed the redirect without the body and the key.
  test('reports where a server redirects to', async () => {
    const location = `${addressOf(fenceline)}/elsewhere`;
    const other = await listening(() => [302, {}], { location });
    onTestFinished(() => void other.close());
    const address = addressOf(other);
    const failure = (await failureOf(command, words, address)) as Error;
    expect(failure).toBeInstanceOf(CommandFailure);
    if (command !== 'tail')
      expect(failure.message).toBe(`${address} redirects to ${location}; use the address of the server itself`);
  });

  test('reports in one line that nothing answers', async () => {
    const answers = `answers at ${nobody} (connect ECONNREFUSED ${new URL(nobody).host})`;
    const failure = (await failureOf(command, words, nobody)) as Error;
    expect(failure).toBeInstanceOf(CommandFailure);
    if (command === 'backup') expect(failure.message).toContain(`but none ${answers}: name its address`);
    else expect(failure.message).toBe(`nothing ${answers}; is it running? --address names another address`);
  });
});

// With `host: 10.1.2.3`, commands asked 127.0.0.1, where nothing answered.
test.each([
  ['10.1.2.3', 'http://10.1.2.3:81'],
  ['::1', 'http://[::1]:81'],
  ['0.0.0.0', 'http://127.0.0.1:81'],
  ['::', 'http://127.0.0.1:81'],
])('commands call a node that listens on %s at %s', async (host, address) => {
  expect(await adminAccessOf({ host, port: '81' })).toEqual({ address, key: 'admin' });
});

// The command said that nothing answers, and asked whether the server is running.
describe('what is wrong before anything is sent is not told as an outage', () => {
  test.each(['key\nkey', 'ключ', 'a key'])('the key %j', async (key) => {
    const { run } = await import('./commands/export.js');
    const failure = await run({ address: addressOf(fenceline), key }, []).catch((error: unknown) => error);
    expect(failure).toEqual(new UsageError('the key has characters that no key has; copy it again'));
  });

  test('a folder in place of a file', async () => {
    const path = join(folder, 'folder.csv');
    mkdirSync(path);
    const message = `${path} is a folder`;
    expect(await failureOf('import', [path], addressOf(fenceline))).toEqual(new CommandFailure(message));
  });

  test('a file that cannot be read to its end', async () => {
    // Reads of this file fail, as those of a broken disk do.
    const path = join(folder, 'memory.csv');
    symlinkSync('/proc/self/mem', path);
    const message = `${path} can't be read: EIO: i/o error, read`;
    expect(await failureOf('import', [path], addressOf(fenceline))).toEqual(new CommandFailure(message));
  });
});

// Values of a file and names of others may hold sequences that a terminal would obey.
test('control characters of bad rows and of projects are not printed', async () => {
  const bell = String.fromCharCode(7);
  const rejections = [{ line: 2, column: `tag${bell}`, rule: 'is required', value: `${bell}x` }];
  const ended = { _id: 'i', status: 'completed', message: `done${bell}`, rejections, rejected: 1 };
  const projects = [{ _id: 'p', name: `One${bell}`, keys: [] }];
  const server = await listening(() => [200, { meta: { code: 200 }, import: ended, projects }]);
  const address = addressOf(server);
  const failure = await failureOf('import', [file('bad.csv', 'tag\n')], address);
  await failureOf('project', ['list'], address);
  server.close();
  const printed = [console.log, console.error].flatMap((each) => vi.mocked(each).mock.calls.flat());
  expect(printed).toEqual([`p  One\uFFFD`, 'line 2: tag\uFFFD: is required (\uFFFDx)']);
  expect(failure).toEqual(new CommandFailure('bad.csv: done\uFFFD'));
});

test.each([
  ['--address', { address: 'http://user@127.0.0.1:8080' }],
  ['--address', { address: 'http://127.0.0.1:8080/?a=1' }],
  ['FENCELINE_ADDRESS', {}],
])('an address with more than a path is refused, and %s is named', async (name, values) => {
  vi.stubEnv('FENCELINE_ADDRESS', 'http://127.0.0.1:8080/#map');
  const message = `${name} must be a URL without user, password, query and fragment`;
  await expect(adminAccessOf(values)).rejects.toEqual(new UsageError(message));
});

test('an empty variable counts as not set', async () => {
  for (const name of ['FENCELINE_ADDRESS', 'FENCELINE_CONFIG']) vi.stubEnv(name, '');
  expect(await adminAccessOf({ port: '81' })).toEqual({ address: 'http://127.0.0.1:81', key: 'admin' });
});

// `project list --port 9000` listed the projects of the server that the variable names.
test.each([
  [{ port: '81' }, 'http://127.0.0.1:81'],
  [{ host: '10.1.2.3' }, 'http://10.1.2.3:8080'],
  [{}, 'http://10.9.8.7:82'],
])('the options %j come before FENCELINE_ADDRESS', async (values, address) => {
  vi.stubEnv('FENCELINE_ADDRESS', 'http://10.9.8.7:82');
  expect(await adminAccessOf(values)).toMatchObject({ address });
});

test.each(['port', 'host'])('--address is refused beside --%s', async (name) => {
  const message = `--address and --${name} both name the server; give one`;
  await expect(adminAccessOf({ address: nobody, [name]: '81' })).rejects.toEqual(new UsageError(message));
});

test.each([
  [['rotate-key', 'id'], {}, 'rotate-key requires --environment: test or live'],
  [['rotate-key', 'id'], { environment: 'prod', kind: 'secret' }, 'rotate-key requires --environment: test or live'],
  [['rotate-key', 'id'], { environment: 'test', kind: 'x' }, 'rotate-key requires --kind: publishable or secret'],
])('project %j is refused before anything is sent', async (words, values, message) => {
  const { run } = await import('./commands/project.js');
  await expect(run({ address: nobody, ...values }, words)).rejects.toEqual(new UsageError(message));
});

// The server refused them with the name of its parameter, and the status was 1.
test.each([
  ['export', { format: 'xml' }, '--format must be one of csv, geojson, ndjson, not xml'],
  ['tail', { from: 'now' }, '--from must be earliest or latest, not now'],
])('%s %j is refused before anything is sent', async (command, values, message) => {
  const { run } = (await import(`./commands/${command}.ts`)) as { run: Run<CommandDescription['options']> };
  await expect(run({ address: nobody, key: 'k', ...values } as never, [])).rejects.toEqual(new UsageError(message));
});

test('an outage has its reason also where the name has several addresses', async () => {
  // Node then fails with an error for each address, whose message is empty.
  const failure = (await failureOf('export', [], nobody.replace('127.0.0.1', 'localhost'))) as Error;
  expect(failure.message).toMatch(/\(.*ECONNREFUSED.*\)/);
});
