/** Errors of the command line: one line and an exit status, without usage text or stack. Runs the built program. */
import { type ChildProcess, type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePorts } from '../../testing/services/ports.js';
import { until } from '../../testing/until.js';
import { placeBasemap } from '../support/basemap.js';
import { program } from '../support/program.js';
import { TestServer } from '../support/server.js';

let server: TestServer;
let folder: string;
let other: Server;
let otherPort: number;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fenceline-command-line-'));
  await placeBasemap(join(folder, 'new'));
  writeFileSync(join(folder, 'file'), '');
  writeFileSync(join(folder, 'stores.csv'), 'tag,externalId\n');
  writeFileSync(
    join(folder, 'places.ndjson'),
    '{"_id":"p","name":"P","geometry":{"type":"Point","coordinates":[1,2]}}',
  );
  writeFileSync(join(folder, 'bad.yaml'), 'port: many\nlocation: 7\n');
  const radar = { meta: { sdkConfiguration: { stopDetection: true } }, geofences: [], beacons: [] };
  const rejecting = {
    ...{ _id: 'i1', status: 'completed', message: '1 row was rejected', rows: 1, rejected: 1 },
    rejectedFile: '/v1/imports/i1/rejected',
  };
  const running = { _id: 'i1', status: 'running', rows: 0, rejected: 0, bytesRead: 0 };
  other = createServer((request, response) => {
    const { url = '' } = request;
    // The other paths are those of another program.
    if (!url.startsWith('/v1/')) response.setHeader('x-radar-request-id', '0');
    if (url.startsWith('/large/v1/events/stream'))
      return void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(anEvent);
    // They go on until the command ends.
    if (url.startsWith('/endless/v1/geofences/export')) return void response.write('row\n');
    if (url.startsWith('/endless/v1/imports/i1/stream'))
      return void response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write(`data: ${JSON.stringify(running)}\n\n`);
    if (url.startsWith('/unread/')) return;
    request.resume().once('end', () => {
      if (url.startsWith('/radar/v1/')) response.end(JSON.stringify(radar));
      else if (url.startsWith('/large/')) response.end('row\n'.repeat(1e6));
      else if (url.startsWith('/endless/')) response.end(JSON.stringify({ import: running }));
      else if (url.startsWith('/rejecting/')) response.end(JSON.stringify({ import: rejecting }));
      else response.end('hello');
    });
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  otherPort = (other.address() as AddressInfo).port;
  server = await TestServer.start();
});
afterAll(async () => {
  other.close();
  await server?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const environment = (): NodeJS.ProcessEnv => ({ ...process.env, FENCELINE_LOG_LEVEL: 'warn' });

async function call(args: readonly string[], variables: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [program, ...args], { cwd: folder, env: { ...environment(), ...variables } });
  return ended(child);
}

/** Resolves to the status and the errors of a process, whose output is read and dropped. */
async function ended(child: ChildProcessWithoutNullStreams) {
  onTestFinished(() => void child.kill('SIGKILL'));
  let stderr = '';
  child.stdout.resume();
  child.stderr.on('data', (bytes: Buffer) => {
    stderr += bytes.toString();
  });
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, stderr };
}

const anEvent = 'id: 1\ndata: {"_id":"1","type":"user.entered_geofence","createdAt":"2026-01-01T00:00:00Z"}\n\n';

const nobody = 'http://127.0.0.1:9';

/** Options for a server that has four megabytes to export. */
const large = (): readonly string[] => ['--key', 'k', '--address', `http://127.0.0.1:${otherPort}/large`];

/** Arguments of commands that call a server. */
const callers: (readonly [string, () => readonly string[]])[] = [
  ['project', () => ['list']],
  ['tail', () => ['--key', 'k']],
  ['export', () => ['--key', 'k']],
  ['import', () => ['stores.csv', '--key', 'k']],
  ['places', () => ['import', 'places.ndjson', '--key', 'k']],
  // It printed a stack when it could not store the settings.
  [
    'migrate',
    () => [
      ...['radar', 'copied', '--key', 'k', '--radar-key', 'r'],
      ...['--radar-address', `http://127.0.0.1:${otherPort}/radar/`],
    ],
  ],
];

describe('a command that fails', () => {
  const cases: [string, () => readonly string[], 1 | 2, RegExp][] = [
    [
      'a folder in use',
      () => ['serve', '--port', '0', '--data', server.dataFolder],
      1,
      /another process is using the data folder/,
    ],
    [
      'a port in use',
      () => ['serve', '--port', `${otherPort}`, '--data', 'new'],
      1,
      /can't listen on 127.0.0.1:\d+: another program/,
    ],
    [
      'a folder that is a file',
      () => ['serve', '--port', '0', '--data', 'file'],
      1,
      /the data folder file can't be used: it is a file/,
    ],
    // It never ended, whatever signal came.
    [
      'a folder that the system does not create',
      () => ['serve', '--port', '0', '--data', '/proc/fenceline'],
      1,
      /the data folder \/proc\/fenceline can't be used: (the system refuses|it belongs to another user|its disk is)/,
    ],
    [
      'a bad configuration',
      () => ['serve', '--config', 'bad.yaml'],
      2,
      /invalid configuration: location .*; port .*must be a whole number/,
    ],
    ['an unknown option', () => ['serve', '--prot', '80'], 2, /unknown option --prot; did you mean --port\?/],
    ['an unknown command', () => ['sevre'], 2, /unknown command sevre; did you mean serve\?/],
    ['an option before the command', () => ['--port', '80', 'serve'], 2, /unknown option --port; options .* follow/],
    ['an option without its value', () => ['serve', '--port'], 2, /--port needs a value/],
    ['an unexpected word', () => ['serve', '8080'], 2, /serve takes only options, not 8080/],
    ['a word after the version', () => ['--version', 'serve'], 2, /--version does not take serve/],
    ['a second command after help', () => ['help', 'serve', 'tail'], 2, /help serve does not take tail/],
    ...callers.map(([name, args]): [string, () => readonly string[], 1, RegExp] => [
      `nothing listening, for ${name}`,
      () => [name, ...args(), '--address', nobody],
      1,
      /nothing answers at http:\/\/127.0.0.1:9 \(.+\); is it running\?/,
    ]),
    ['an address without a scheme', () => ['project', 'list', '--address', 'localhost:80'], 2, /must be a URL such as/],
    ['a wrong key, for project', () => ['project', 'list', '--address', server.address], 1, /key/],
    ['a wrong key, for tail', () => ['tail', '--key', 'k', '--address', server.address], 1, /key/],
    [
      'another program there',
      () => ['project', 'list', '--address', `http://127.0.0.1:${otherPort}`],
      1,
      /is not Fenceline/,
    ],
    ['a word too many', () => ['project', 'list', 'extra'], 2, /project requires create NAME, list, or rotate-key ID/],
    [
      'a folder for a copy that the system does not create',
      () => ['migrate', 'radar', '/proc/fenceline', '--key', 'k', '--radar-key', 'r'],
      1,
      /\/proc\/fenceline: (the system refuses|this user has no permission|its disk is)/,
    ],
    // It tried forever to create the folder.
    [
      'a backup where the system creates no folder',
      () => ['backup', '/proc/fenceline', '--data', server.dataFolder],
      1,
      /\/proc\/fenceline: (the system refuses|this user has no permission|its disk is)/,
    ],
    // It asked whether the server was running, which it was, at another port.
    [
      'a backup of a server at another address',
      () => ['backup', 'copy', '--data', server.dataFolder, '--address', nobody],
      1,
      /a server uses .*, but none answers at http:.*: name its address with --port or --address/,
    ],
    // The import was made, and its summary was lost.
    [
      'a file of rejected rows in a missing folder',
      () => ['import', 'stores.csv', '--key', 'k', '--rejected', '/missing/x.csv', '--address', nobody],
      1,
      /--rejected \/missing\/x\.csv: there is no folder \/missing\n/,
    ],
    ['no data folder, for replay', () => ['replay', '--data', 'none'], 1, /is not a data folder/],
    // Some commands took a missing file for a wrong command, and others did not.
    ['no data folder, for repair', () => ['repair', 'positions', '--data', 'none'], 1, /is not a data folder/],
    ['a missing file, for import', () => ['import', 'none.csv', '--key', 'k'], 1, /none\.csv does not exist/],
    [
      'a missing file, for places',
      () => ['places', 'import', 'none.geojson', '--key', 'k'],
      1,
      /no file none\.geojson/,
    ],
    [
      'a missing file, for replay',
      () => ['replay', '--geofences', 'none.json'],
      1,
      /--geofences none\.json: there is no/,
    ],
    [
      'a missing file, for roads',
      () => ['roads', 'build', 'none.osm.pbf'],
      1,
      /none\.osm\.pbf could not be read: there is/,
    ],
    [
      'a missing archive, for map',
      () => ['map', 'center=1,1&zoom=3&width=100&height=100', '-o', 'map.png', '--archive', 'none.pmtiles'],
      1,
      /none\.pmtiles could not be drawn: there is no/,
    ],
    ['a missing backup, for restore', () => ['restore', 'none', '--data', 'restored'], 1, /none has no backup\.json/],
    [
      'a folder to write into',
      () => ['export', '--key', 'k', '-o', 'new'],
      1,
      /--output must be a file, and new is a folder/,
    ],
    // It read every file as GeoJSON, and found fault with its first line.
    [
      'places of a format that does not exist',
      () => ['places', 'import', 'stores.csv', '--key', 'k'],
      2,
      /stores\.csv must be a \.geojson or \.ndjson file/,
    ],
    // The server knows the rule, and its refusal looked like a failure.
    [
      'a misspelt type of event',
      () => ['tail', '--key', server.keys.test_secret, '--address', server.address, '--type', 'user.enter_geofence'],
      2,
      /type: must be one of user\.entered_geofence, .* \(see "fenceline help tail"\)/,
    ],
    [
      'a tag that is too long',
      () => ['export', '--key', server.keys.test_secret, '--address', server.address, '--tag', 'x'.repeat(1_000)],
      2,
      /tag: must have at most \d+ characters/,
    ],
    // The extract was read first, and its fault was all that was said.
    [
      'bounds of an extract in another order',
      () => ['roads', 'build', 'missing.osm.pbf', '--bounds', '43.7,11.1,43.9,200'],
      2,
      /--bounds must be west,south,east,north in degrees, such as .*, not 43.7,11.1,43.9,200/,
    ],
    [
      'a boundary that does not exist',
      () => ['roads', 'build', 'missing.osm.pbf', '--boundary', 'missing.poly'],
      1,
      /--boundary missing.poly: there is no such file or folder/,
    ],
    // It wrote a PNG, and a CSV that no import could unpack.
    [
      'a map in a format that does not exist',
      () => ['map', 'width=64&height=64&center=43.77,11.25&zoom=4', '-o', 'map.gif'],
      2,
      /--output must end in \.png, \.webp, \.jpg or \.jpeg, not map\.gif/,
    ],
    [
      'an export into a file that is to be compressed',
      () => ['export', '--key', 'k', '--address', nobody, '-o', 'stores.csv.gz'],
      2,
      /--output must end in \.csv, .*, not stores\.csv\.gz; or name the format with --format/,
    ],
  ];
  it.each(cases)('prints one line: %s', async (_, args, status, message) => {
    const answer = await call(args(), { FENCELINE_ADMIN_API_KEY: 'wrong' });
    expect(answer.stderr).toMatch(message);
    expect(answer.stderr).toMatch(/^fenceline: [^\n]+\n$/);
    expect(answer.status).toBe(status);
  });

  it('prints one line: a name that the server refuses', async () => {
    const name = 'x'.repeat(1_000);
    const answer = await call(['project', 'create', name, '--address', server.address, '--data', server.dataFolder]);
    expect(answer.stderr).toMatch(/^fenceline: name: [^\n]* \(see "fenceline help project"\)\n$/);
    expect(answer.status).toBe(2);
  });
});

// serve had made a data folder by then, and config said nothing.
describe('settings that do not fit together', () => {
  it.each(['serve', 'config'])('are all refused by %s before anything is opened', async (command) => {
    const data = join(folder, 'never');
    const { status, stderr } = await call([command, '--port', '0', '--data', data], {
      FENCELINE_MAIL_HOST: 'smtp.example.com',
      FENCELINE_GEOCODING_PROVIDER: 'photon',
      FENCELINE_ROUTING_PROVIDER: 'valhalla',
    });
    expect(stderr.trim().split('; ')).toEqual([
      'fenceline: invalid configuration: mail.sender: must be set if mail.host is',
      'geocoding.url: must be set, because geocoding.provider is photon',
      'routing.url: must be set, because routing.provider is valhalla',
    ]);
    expect(status).toBe(2);
    expect(existsSync(data)).toBe(false);
  });
});

describe('files that settings name', () => {
  // A node starts without them, because locations do not depend on them.
  it('are named by config, with status 0, when they are missing', async () => {
    const { status, stderr } = await call(['config'], { FENCELINE_MAPS_ARCHIVE: '/nowhere/world.pmtiles' });
    const reason = "can't be read: there is no such file or folder: maps fail";
    expect(stderr).toBe(`maps.archive: /nowhere/world.pmtiles ${reason}\n`);
    expect(status).toBe(0);
  });
});

describe('import', () => {
  it('does not replace the file that it reads by its rejected rows', async () => {
    const rows = 'tag,externalId\nstore,1\n';
    writeFileSync(join(folder, 'own.csv'), rows);
    symlinkSync('own.csv', join(folder, 'same.csv'));
    const options = ['--key', 'k', '--address', `http://127.0.0.1:${otherPort}/rejecting`];
    for (const rejected of ['own.csv', './own.csv', 'same.csv']) {
      const { status, stderr } = await call(['import', 'own.csv', '--rejected', rejected, ...options]);
      expect(stderr).toContain('--rejected must be another file than own.csv, which it would replace');
      expect(status).toBe(2);
    }
    expect(readFileSync(join(folder, 'own.csv'), 'utf8')).toBe(rows);
  });

  it('reports its summary also when the rejected rows cannot be saved', async () => {
    const address = `http://127.0.0.1:${otherPort}/rejecting`;
    const rest = ['--key', 'k', '--rejected', '/dev/full', '--address', address];
    const { status, stderr } = await call(['import', 'stores.csv', ...rest]);
    expect(stderr).toContain(
      'fenceline: stores.csv: 1 row was rejected; the bad rows could not be saved: its disk is full',
    );
    expect(status).toBe(1);
  });
});

// A stack, or status 0 although nothing was written: tail lost its events on a full disk.
describe('the output of a command', () => {
  const commands: [string, () => readonly string[]][] = [
    ['config', () => []],
    ['export', large],
    ['tail', () => ['--json', ...large()]],
    ['replay', () => ['--data', server.dataFolder, '--format', 'summary', '--environment', 'live']],
    ['project', () => ['list', '--data', server.dataFolder, '--address', server.address]],
  ];

  /** Runs the command with this end of a line of the shell. The status is that of the command. */
  async function inShell(args: readonly string[], end: string) {
    const script = `set -o pipefail; "$0" "$@" ${end}`;
    const child = spawn('bash', ['-c', script, process.execPath, program, ...args], {
      cwd: folder,
      env: environment(),
    });
    const { status, stderr } = await ended(child);
    return { status, stderr: stderr.replace(/^fenceline: connected to .*\n/, '') };
  }

  it.each(commands)('of %s: a full disk is one line and status 1', async (name, args) => {
    const line = "fenceline: the output can't be written: ENOSPC: no space left on device, write\n";
    expect(await inShell([name, ...args()], '> /dev/full')).toEqual({ status: 1, stderr: line });
  });

  it('of export: a reader that left ends it quietly', async () => {
    expect(await inShell(['export', ...large()], '| head -1')).toEqual({ status: 0, stderr: '' });
  });

  // It drove its fleet on until somebody found the process.
  it('of demo: a reader that left ends it quietly, with its server', async () => {
    expect(await inShell(['demo', '--devices', '50', '--rate', '50'], '| head -1')).toEqual({ status: 0, stderr: '' });
  });
});

/** Ends with the test. */
function start(
  args: readonly string[],
  variables: NodeJS.ProcessEnv = {},
): { readonly child: ChildProcess; text: string } {
  const child = spawn(process.execPath, [program, ...args], { cwd: folder, env: { ...environment(), ...variables } });
  const started = { child, text: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      started.text += bytes.toString();
    });
  }
  onTestFinished(() => void child.kill('SIGKILL'));
  return started;
}

/** Kills the processes that a detached one has left behind, if there are any. */
function endGroupOf({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, 'SIGKILL');
  } catch {
    // All have ended.
  }
}

describe('serve', () => {
  it('names a first start in its first line, and is ready only after it has printed the keys', async () => {
    const [port] = await freePorts(1);
    await placeBasemap(join(folder, 'with-keys'));
    // A file, as in a script that waits for /health/ready and then looks for the keys.
    const output = openSync(join(folder, 'output'), 'w');
    const child = spawn(process.execPath, [program, 'serve', '--port', `${port}`, '--data', 'with-keys'], {
      cwd: folder,
      env: environment(),
      stdio: ['ignore', output, 'ignore'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    closeSync(output);
    const isReady = (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${port}/health/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until(isReady, { pollEveryMs: 1 });
    const printed = readFileSync(join(folder, 'output'), 'utf8');
    expect(printed).toMatch(/^Starting Fenceline for the first time: creating the data folder with-keys/);
    expect(printed).toMatch(/test secret +prj_test_sk_/);
  });

  // A log on a full disk ended the node, although nothing else was wrong. Later its stop hung and was killed.
  it.skipIf(!existsSync('/dev/full'))('goes on while its log can not be written, and stops', async () => {
    await placeBasemap(join(folder, 'without-log'));
    const log = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--data', 'without-log'], {
      cwd: folder,
      env: { ...environment(), FENCELINE_LOG_LEVEL: 'info' },
      stdio: ['ignore', 'pipe', log],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    closeSync(log);
    const exited = once(child, 'exit');
    let printed = '';
    child.stdout!.on('data', (bytes: Buffer) => {
      printed += bytes.toString();
    });
    await until(() => printed.includes('listening on') || child.exitCode !== null);
    const address = /listening on (\S+)/.exec(printed)?.[1];
    await until(async () => (await fetch(`${address}/health/ready`)).ok);
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });

  // Each signal had a second one of its own, so SIGTERM after Ctrl-C did nothing while a stop took long.
  it.each([
    ['SIGINT', 'SIGTERM'],
    ['SIGTERM', 'SIGINT'],
    ['SIGHUP', 'SIGTERM'],
  ] as const)('is ended at once by %s and %s', async (first, second) => {
    const data = `ended-by-${first}`;
    await placeBasemap(join(folder, data));
    const started = start(['serve', '--port', '0', '--data', data]);
    const exited = once(started.child, 'exit');
    // It listens to signals, and stops only when the start is done, which takes a second.
    await until(() => started.text.startsWith('Starting Fenceline'), { pollEveryMs: 1 });
    started.child.kill(first);
    started.child.kill(second);
    expect(await exited).toEqual([1, null]);
  });

  // SIGHUP ended it at once, in the middle of its writes. With a listener only, Node aborted when it had stopped.
  it.runIf(process.platform === 'linux')('stops in order when its terminal is closed', async () => {
    await placeBasemap(join(folder, 'of-terminal'));
    const [log, id] = [join(folder, 'of-terminal.log'), join(folder, 'of-terminal.pid')];
    // Only the first process of a terminal gets the signal.
    const serve = `"${process.execPath}" "${program}" serve --port 0 --data of-terminal 2> "${log}"`;
    const words = `echo $$ > "${id}"; exec ${serve}`;
    const terminal = spawn('script', ['--quiet', '--command', words, '/dev/null'], {
      cwd: folder,
      env: { ...environment(), FENCELINE_LOG_LEVEL: 'info' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    terminal.stdout.resume();
    await until(() => existsSync(log) && readFileSync(log, 'utf8').includes('"msg":"ready"'));
    const server = Number(readFileSync(id, 'utf8'));
    terminal.kill('SIGKILL');
    await until(() => !existsSync(`/proc/${server}`));
    expect(readFileSync(log, 'utf8')).toMatch(/"reason":"SIGHUP","msg":"stopping"}\n.*"msg":"stopped"}\n$/);
  });

  // The server went on, and its folder stayed in use, because npx passes a signal on to the shell only.
  it('stops when the shell of npx has ended, as on a signal', async () => {
    await placeBasemap(join(folder, 'of-npx'));
    const log = join(folder, 'of-npx.log');
    const words = `"${process.execPath}" "${program}" serve --port 0 --data "${join(folder, 'of-npx')}"`;
    // The shell waits for the program, as that of npx does. It would become the program without the second command.
    const shell = spawn('sh', ['-c', `${words} > "${log}" 2>&1; exit`], {
      env: { ...process.env, npm_lifecycle_script: "'fenceline'" },
      stdio: 'ignore',
      detached: true,
    });
    onTestFinished(() => endGroupOf(shell));
    await until(() => existsSync(log) && readFileSync(log, 'utf8').includes('"msg":"ready"'));
    shell.kill();
    await until(() => readFileSync(log, 'utf8').includes('"msg":"stopped"'));
    expect(readFileSync(log, 'utf8')).toContain('"reason":"launcher ended"');
  });
});

describe('an interrupted command', () => {
  const address = (path: string): string => `http://127.0.0.1:${otherPort}/${path}`;
  /** Resolves when the server has a request for the path. */
  const requested = async (path: string): Promise<void> => {
    for (;;) {
      const [{ url = '' }] = (await once(other, 'request')) as [{ url?: string }];
      if (url.startsWith(path)) return;
    }
  };

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('export leaves the file as it was, and nothing beside it, on %s', async (signal, status) => {
    const target = join(folder, `exported-${signal}`);
    mkdirSync(target);
    writeFileSync(join(target, 'kept.csv'), 'before');
    const started = start(['export', '--key', 'k', '--address', address('endless'), '-o', `${target}/kept.csv`]);
    await until(() => readdirSync(target).includes('kept.csv.unfinished'));
    started.child.kill(signal);
    expect(await once(started.child, 'close')).toEqual([status, null]);
    expect(started.text).toBe(`fenceline: interrupted; ${target}/kept.csv is as it was before\n`);
    expect(readdirSync(target)).toEqual(['kept.csv']);
    expect(readFileSync(join(target, 'kept.csv'), 'utf8')).toBe('before');
  });

  it('import says how to watch and to stop what goes on', async () => {
    const started = start(['import', 'stores.csv', '--key', 'k', '--address', address('endless')]);
    await requested('/endless/v1/imports/i1/stream');
    started.child.kill('SIGINT');
    expect(await once(started.child, 'close')).toEqual([130, null]);
    const route = `${address('endless')}/v1/imports/i1`;
    expect(started.text).toBe(
      `fenceline: interrupted; the import i1 continues on the server: GET ${route} shows it, ` +
        `and POST ${route}/stop stops it\n`,
    );
  });

  it('import says that a part of a file is not imported', async () => {
    const started = start(['import', 'stores.csv', '--key', 'k', '--address', address('unread')]);
    await requested('/unread/');
    started.child.kill('SIGINT');
    expect(await once(started.child, 'close')).toEqual([130, null]);
    expect(started.text).toBe('fenceline: interrupted; the server imports a file only once it has the whole file\n');
  });
});

describe('an output that is no regular file', () => {
  // As root, it was replaced by a file.
  it('of export is written to, not replaced', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reader = spawn('cat', [pipe]);
    const read = ended(reader);
    expect((await call(['export', ...large(), '-o', pipe])).stderr).toBe('');
    expect(await read).toEqual({ status: 0, stderr: '' });
    expect(lstatSync(pipe).isFIFO()).toBe(true);
  });

  it('of export: a link stays one', async () => {
    symlinkSync('linked.csv', join(folder, 'link.csv'));
    expect((await call(['export', ...large(), '-o', 'link.csv'])).stderr).toBe('');
    expect(readlinkSync(join(folder, 'link.csv'))).toBe('linked.csv');
    expect(statSync(join(folder, 'linked.csv')).size).toBe(4e6);
  });
});

describe('demo', () => {
  // Its server ran on until somebody found the process.
  it.each(['SIGKILL', 'SIGHUP'] as const)('ended by %s ends its server', async (signal) => {
    const demo = start(['demo', '--devices', '20', '--rate', '20'], { TMPDIR: folder });
    const address = await until(() => /running at (http:\S+),/.exec(demo.text)?.[1]);
    demo.child.kill(signal);
    const answers = (): Promise<boolean> =>
      fetch(`${address}/health/live`).then(
        () => true,
        () => false,
      );
    await until(async () => !(await answers()));
  });
});

describe('replay', () => {
  it('names environment and range when it finds nothing', async () => {
    const range = ['--from', '2029-01-01T00:00:00Z', '--to', '2029-01-02T00:00:00Z'];
    const { status, stderr } = await call(['replay', '--data', server.dataFolder, '--environment', 'live', ...range]);
    expect(stderr).toContain(
      'No locations of environment live are held from 2029-01-01T00:00:00.000Z to 2029-01-02T00:00:00.000Z',
    );
    expect(status).toBe(0);
  });
});

// Last, because it kills the server of the file.
describe('tail', () => {
  it('reports that it is connected, and reconnects after delays of at most five seconds', async () => {
    const port = new URL(server.address).port;
    const { child } = start(['tail', '--key', server.keys.test_secret, '--address', server.address]);
    const lines: string[] = [];
    child.stderr?.on('data', (bytes: Buffer) => lines.push(...bytes.toString().trim().split('\n')));
    const connections = (): number => lines.filter((line) => line.startsWith('fenceline: connected to ')).length;
    await until(() => connections() === 1);
    await server.kill();
    // By the fourth, the delay has grown to its bound.
    await until(() => lines.filter((line) => line.includes('retrying in')).length >= 4);
    const delaysS = lines.flatMap((line) => /retrying in ([\d.]+) s/.exec(line)?.[1] ?? []).map(Number);
    expect(Math.max(...delaysS)).toBeLessThanOrEqual(5);
    const again = start(['serve', '--port', port, '--data', server.dataFolder]);
    await until(() => /listening on/.test(again.text));
    await until(() => connections() === 2);
  });
});
