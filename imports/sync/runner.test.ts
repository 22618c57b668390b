/** Whole runs, on the real stores, with real HTTP, S3 and SMTP servers, in virtual time. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Mailer } from '../../outbound/mail/mail.js';
import { createMailer } from '../../outbound/mail/mailer.js';
import { startSmtpServer, type TestSmtpServer } from '../../outbound/mail/testing/smtp-server.js';
import { ampleMs, networks, openClient } from '../../outbound/testing/clients.js';
import { projectRecord } from '../../pipeline/catalog/testing/fixtures.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import { createSecretCipher } from '../../pipeline/encryption.js';
import { ApiError } from '../../schemas/errors.js';
import type { SyncRecord, SyncRunRecord } from '../../schemas/json/sync.js';
import { until } from '../../testing/until.js';
import { newScope, useWorkbench } from '../testing/fixtures.js';
import type { SyncInput } from './fields.js';
import { requestedSync, savedSync } from './record.js';
import { createSyncRunner, defaultSyncBounds, type SyncBounds, type SyncRunnerParts } from './runner.js';
import { createSchedule } from './schedule.js';
import { startS3Server, type TestS3Server } from './testing/s3-server.js';

const hourMs = 3_600_000;
let nowMs = Date.UTC(2026, 4, 17, 12);
const clock = () => nowMs;

const bench = useWorkbench({}, clock);
const cipher = createSecretCipher(Buffer.alloc(32, 1));
const account = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret/of+the=account', region: 'eu-central-1' };
const schedule = createSchedule('02:00', 'UTC');

const header = 'description,type,tag,externalId,coordinates,radius';
const csv = (...ids: string[]) => [header, ...ids.map((id) => `Shop,circle,store,${id},"[10,50]",100`)].join('\n');

/** The same geofence as GeoJSON. */
const feature = (id: string) => ({
  type: 'Feature',
  properties: { tag: 'store', externalId: id, description: 'Shop', radius: 100 },
  geometry: { type: 'Point', coordinates: [10, 50] },
});
const collection = (id: string) => JSON.stringify({ type: 'FeatureCollection', features: [feature(id)] });

let files: Server;
let s3: TestS3Server;
let smtp: TestSmtpServer;
let mailer: Mailer;
/** Bodies by path. A path without one answers 404. */
const bodies = new Map<string, string>();
/** The Content-Type of a path, if it has one. */
const types = new Map<string, string>();
let requests: string[] = [];

beforeAll(async () => {
  files = createServer((request, response) => {
    requests.push(request.url ?? '');
    const body = bodies.get(request.url ?? '');
    if (body === undefined) response.writeHead(404).end();
    else if (request.headers['if-none-match'] === `"${body.length}"`) response.writeHead(304).end();
    else {
      const type = types.get(request.url ?? '');
      response.writeHead(200, { etag: `"${body.length}"`, ...(type && { 'content-type': type }) }).end(body);
    }
  });
  await new Promise<void>((listening) => files.listen(0, '127.0.0.1', listening));
  s3 = await startS3Server(account, clock);
  smtp = await startSmtpServer();
  const transport = { host: '127.0.0.1', port: smtp.port, tls: 'off', timeoutMs: 30_000, retryDelaysMs: [] } as const;
  mailer = createMailer({
    sender: 'fenceline@example.com',
    transport: { smtp: { ...transport, maxConnections: 2, maxWaiting: 10 } },
  });
});
afterAll(async () => {
  files.closeAllConnections();
  files.close();
  await s3.close();
  await mailer.close();
  await smtp.close();
});
beforeEach(async () => {
  // Every node runs the syncs of all environments.
  for (const { _id } of bench.readModel.syncs()) await bench.writer.write([{ kind: 'sync', id: _id, record: null }]);
  bodies.clear();
  types.clear();
  requests = [];
});

const url = (path: string) => `http://127.0.0.1:${(files.address() as AddressInfo).port}${path}`;

const input: SyncInput = {
  enabled: true,
  notificationEmail: null,
  protocol: 'http',
  urls: null,
  region: null,
  bucket: null,
  keys: null,
  endpoint: null,
  accessKeyId: null,
  secretAccessKey: null,
};

async function write(record: SyncRecord): Promise<void> {
  await bench.writer.write([{ kind: 'sync', id: record._id, record }]);
}

async function save(scope: Scope, given: Partial<SyncInput>): Promise<void> {
  const existing = bench.readModel.sync(scope);
  await write(savedSync(scope, { ...input, ...given }, existing, cipher, bench.writer.nextTimestamp()));
}

const syncOf = (scope: Scope): SyncRecord => bench.readModel.sync(scope) as SyncRecord;
const lastRun = (scope: Scope): SyncRunRecord => syncOf(scope).lastRun as SyncRunRecord;
const storedIds = (scope: Scope) =>
  bench.readModel
    .geofences({ ...scope, orderBy: 'createdAt', limit: 100 })
    .items.map(({ externalId }) => externalId)
    .sort();

const problems: string[] = [];

function newNode(parts: Partial<SyncRunnerParts> = {}) {
  const folder = join(mkdtempSync(join(tmpdir(), 'fenceline-sync-')), 'sync');
  const runner = createSyncRunner({
    ...bench,
    configuration: bench.readModel,
    client: openClient({ allowedNetworks: networks('127.0.0.1'), maxBodyBytes: 16_384 }),
    mailer,
    cipher,
    schedule,
    clock,
    folder,
    bounds: { ...defaultSyncBounds, maxReadMs: ampleMs, maxBytes: 1_000_000, retryDelaysMs: [1] },
    pause: async () => undefined,
    onProblem: ({ reason }) => problems.push(reason),
    onEnded: () => undefined,
    ...parts,
  });
  onTestFinished(async () => {
    await runner.close();
    expect(existsSync(folder)).toBe(false);
    rmSync(join(folder, '..'), { recursive: true, force: true });
  });
  return {
    ...runner,
    folder,
    async run() {
      await runner.tick();
      await runner.idle();
    },
  };
}

/** Starts a run whose connection breaks, on a new node. Resolves to the node once the run waits for another attempt. */
async function nodeThatWaits() {
  let wait = () => {};
  const isWaiting = new Promise<void>((resolve) => {
    wait = resolve;
  });
  const node = newNode({
    client: {
      send: async () => ({ kind: 'failed', failure: 'connection_failed', message: 'broken', durationMs: 0 }),
    },
    pause: (_, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        wait();
      }),
  });
  await node.tick();
  await isWaiting;
  return node;
}

/** Starts the run of a file whose end waits for `finish`. Resolves to its node once the download has begun. */
async function nodeThatReads(scope: Scope, bounds: Partial<SyncBounds> = {}) {
  let begin = () => {};
  const hasBegun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let finish = () => {};
  const slow = createServer((_, response) => {
    finish = () => void response.end(csv('late').slice(header.length));
    response.writeHead(200).write(header, begin);
  });
  await new Promise<void>((listening) => slow.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    slow.closeAllConnections();
    slow.close();
  });
  await save(scope, { urls: [`http://127.0.0.1:${(slow.address() as AddressInfo).port}/slow.csv`] });
  const node = newNode({ bounds: { ...defaultSyncBounds, maxReadMs: ampleMs, maxBytes: 1_000_000, ...bounds } });
  await node.tick();
  await hasBegun;
  /** Sends the rest of the file. */
  return { ...node, finish: () => finish() };
}

describe('a run', () => {
  test('follows at once when the sync is saved, and then every night', async () => {
    const scope = newScope();
    bodies.set('/a.csv', csv('1', '2'));
    await save(scope, { urls: [url('/a.csv')] });
    const node = newNode();
    await node.run();
    expect(storedIds(scope)).toEqual(['1', '2']);
    expect(lastRun(scope)).toMatchObject({
      reason: 'saved',
      result: 'succeeded',
      message: '1 of 1 files were imported.',
      files: [{ name: url('/a.csv'), result: 'imported', counts: { rows: 2, created: 2, rejected: 0 } }],
    });

    bodies.set('/a.csv', csv('1', '2', '3'));
    await node.run();
    expect(requests).toHaveLength(1);
    nowMs += 24 * hourMs;
    await node.run();
    expect(lastRun(scope)).toMatchObject({ reason: 'nightly', result: 'succeeded' });
    expect(storedIds(scope)).toEqual(['1', '2', '3']);
  });

  // A failing sync was in no metric and no line of the log, so an operator without its mails did not notice.
  test('is reported when its result is stored', async () => {
    const scope = newScope();
    await save(scope, { urls: [url('/a.csv')] });
    const told: SyncRunRecord[] = [];
    const node = newNode({
      onEnded: (sync, run) => void told.push({ ...run, message: `${sync.project} ${run.message}` }),
    });
    await node.run();
    bodies.set('/a.csv', csv('1'));
    nowMs += 24 * hourMs;
    await node.run();
    await node.run();
    expect(told).toMatchObject([
      { result: 'failed', message: `${scope.project} Not all files could be read, so none was imported.` },
      { result: 'succeeded', message: `${scope.project} 1 of 1 files were imported.` },
    ]);
  });

  test('is in the history of imports', async () => {
    const scope = newScope();
    bodies.set('/a.csv?token=secret', csv('1'));
    await save(scope, { urls: [url('/a.csv?token=secret')] });
    await newNode().run();
    const { items } = bench.readModel.imports.list({ ...scope, resource: 'geofences', limit: 10 });
    expect(items).toMatchObject([
      {
        _id: lastRun(scope).files[0]?.import,
        requestedBy: { kind: 'sync', name: lastRun(scope)._id },
        fileName: url('/a.csv'),
        status: 'completed',
      },
    ]);
  });

  test('skips files that have not changed, and says so', async () => {
    const scope = newScope();
    bodies.set('/a.csv', csv('1')).set('/b.csv', csv('2'));
    await save(scope, { urls: [url('/a.csv'), url('/b.csv')] });
    const node = newNode();
    await node.run();
    bodies.set('/b.csv', csv('2', '3'));
    nowMs += 24 * hourMs;
    await node.run();
    expect(lastRun(scope).files.map(({ result }) => result)).toEqual(['unchanged', 'imported']);
    nowMs += 24 * hourMs;
    await node.run();
    expect(lastRun(scope)).toMatchObject({ result: 'succeeded', message: 'No file has changed.' });
  });

  test('imports nothing when one of its files cannot be read', async () => {
    const scope = newScope();
    bodies.set('/a.csv', csv('1'));
    await save(scope, { urls: [url('/a.csv'), url('/missing.csv')] });
    await newNode().run();
    expect(lastRun(scope)).toMatchObject({
      result: 'failed',
      files: [
        { result: 'skipped', bytes: csv('1').length },
        { result: 'failed', message: 'the server answered 404 Not Found' },
      ],
    });
    expect(storedIds(scope)).toEqual([]);
  });

  test('applies good rows, reports bad ones, and reads the file again next time', async () => {
    const scope = newScope();
    bodies.set('/a.csv', `${csv('1')}\nShop,circle,store,2,"[10,50]",5`);
    await save(scope, { urls: [url('/a.csv')] });
    const node = newNode();
    await node.run();
    expect(lastRun(scope)).toMatchObject({
      result: 'failed',
      files: [{ result: 'rejected_rows', counts: { rows: 2, created: 1, rejected: 1 } }],
    });
    nowMs += 24 * hourMs;
    await node.run();
    expect(lastRun(scope).files).toMatchObject([{ result: 'rejected_rows', counts: { unchanged: 1, rejected: 1 } }]);
  });

  // Uploads took `.geojsonl` for lines of JSON and `.json` for GeoJSON, and the sync took both for CSV.
  test('reads each file in the format that its name says to uploads as well', async () => {
    const scope = newScope();
    bodies.set('/lines.GEOJSONL?token=a.csv', JSON.stringify(feature('1')));
    bodies.set('/all.json', collection('2'));
    bodies.set('/download', csv('3'));
    await save(scope, { urls: [...bodies.keys()].map(url) });
    await newNode().run();
    expect(lastRun(scope)).toMatchObject({ result: 'succeeded' });
    expect(storedIds(scope)).toEqual(['1', '2', '3']);
  });

  // Servers of maps answer queries, whose URLs name no file. Their GeoJSON was read as CSV.
  test('reads a file whose name says no format in the one of its Content-Type', async () => {
    const scope = newScope();
    const served: [path: string, type: string, body: string][] = [
      ['/query?f=geojson', 'application/geo+json; charset=utf-8', collection('1')],
      ['/wfs?outputFormat=json', 'Application/JSON;charset=UTF-8', collection('2')],
      ['/lines', 'application/x-ndjson', JSON.stringify(feature('3'))],
      ['/sheet', 'text/plain', csv('4')],
      ['/named.csv', 'application/json', csv('5')],
    ];
    for (const [path, type, body] of served) {
      bodies.set(path, body);
      types.set(path, type);
    }
    await save(scope, { urls: [...bodies.keys()].map(url) });
    await newNode().run();
    expect(lastRun(scope)).toMatchObject({ result: 'succeeded' });
    expect(storedIds(scope)).toEqual(['1', '2', '3', '4', '5']);
  });

  test('says what is wrong with a file that is not a CSV file', async () => {
    const scope = newScope();
    bodies.set('/a.csv', '<!doctype html>\n<title>Log in</title>');
    await save(scope, { urls: [url('/a.csv')] });
    await newNode().run();
    expect(lastRun(scope)).toMatchObject({ result: 'failed', files: [{ result: 'failed' }] });
    expect(lastRun(scope).files[0]?.message).toMatch(/^line 1: /);
  });

  describe('of a server that wants a pause', () => {
    /** Runs a sync whose server first answers 429. */
    async function run(retryAfter: string) {
      const scope = newScope();
      let answers = 0;
      const busy = createServer((_, response) => {
        if (answers++ === 0) response.writeHead(429, { 'retry-after': retryAfter }).end();
        else response.writeHead(200).end(csv('1'));
      });
      await new Promise<void>((listening) => busy.listen(0, '127.0.0.1', listening));
      onTestFinished(() => void busy.close());
      await save(scope, { urls: [`http://127.0.0.1:${(busy.address() as AddressInfo).port}/a.csv`] });
      const pausesMs: number[] = [];
      await newNode({ pause: async (ms) => void pausesMs.push(ms) }).run();
      return { pausesMs, run: lastRun(scope) };
    }

    // Servers that asked for a minute were asked three times within 17 seconds, and the night was lost.
    test.each([
      ['20', 20_000],
      ['0', 1],
      ['soon', 1],
      ['a date', 10_000],
    ])('waits as Retry-After %s says', async (retryAfter, waitedMs) => {
      const date = new Date(nowMs + 10_000).toUTCString();
      const { pausesMs, run: result } = await run(retryAfter === 'a date' ? date : retryAfter);
      expect(result).toMatchObject({ result: 'succeeded' });
      expect(pausesMs).toEqual([waitedMs]);
    });

    test('fails at once when the pause is longer than the run', async () => {
      const { pausesMs, run: result } = await run('7200');
      expect(pausesMs).toEqual([]);
      expect(result.files[0]).toMatchObject({
        result: 'failed',
        message:
          'the server answered 429 Too Many Requests, and wants no request for 7200 seconds: longer than the run has',
      });
    });
  });

  test('never holds more files than the limit', async () => {
    const scope = newScope();
    bodies.set('/a.csv', csv('1')).set('/b.csv', csv('2'));
    await save(scope, { urls: [url('/a.csv'), url('/b.csv')] });
    const maxBytes = csv('1').length + csv('2').length - 1;
    await newNode({ bounds: { ...defaultSyncBounds, maxReadMs: ampleMs, maxBytes, retryDelaysMs: [] } }).run();
    expect(lastRun(scope).files.map(({ result }) => result)).toEqual(['skipped', 'failed']);
  });
});

describe('object storage', () => {
  const given = (fields: Partial<SyncInput> = {}): Partial<SyncInput> => {
    return { protocol: 's3', bucket: 'fences', endpoint: s3.url, ...account, ...fields };
  };

  test('is read with signed requests, and only if an object has changed', async () => {
    const scope = newScope();
    s3.objects.set('fences/a b/géo+1.csv', { body: Buffer.from(csv('1')) });
    await save(scope, given({ keys: ['a b/géo+1.csv'] }));
    const node = newNode();
    await node.run();
    expect(lastRun(scope)).toMatchObject({ result: 'succeeded' });
    expect(storedIds(scope)).toEqual(['1']);
    nowMs += 24 * hourMs;
    await node.run();
    expect(lastRun(scope).files).toMatchObject([{ result: 'unchanged' }]);
    expect(s3.answers.map((answer) => answer.slice(0, 3))).toEqual(['200', '304']);
  });

  test.each([
    ['a wrong secret', { secretAccessKey: 'wrong' }, '403 Forbidden: SignatureDoesNotMatch'],
    ['an unknown id', { accessKeyId: 'unknown' }, '403 Forbidden: InvalidAccessKeyId'],
    [
      'another region',
      { region: 'us-east-1' },
      '400 Bad Request: AuthorizationHeaderMalformed; the bucket is in region eu-central-1',
    ],
    ['a missing object', { keys: ['missing.csv'] }, '404 Not Found: NoSuchKey'],
  ])('refuses %s with words that help', async (_, fields, message) => {
    const scope = newScope();
    s3.objects.set('fences/a.csv', { body: Buffer.from(csv('1')) });
    await save(scope, given({ keys: ['a.csv'], ...fields }));
    await newNode().run();
    // Whatever was wrong, the message named the region of the bucket, as if that were the cause.
    expect(lastRun(scope).files[0]?.message).toBe(`the server answered ${message}`);
  });

  test('keeps its credentials encrypted, and says when they cannot be decrypted', async () => {
    const scope = newScope();
    await save(scope, given({ keys: ['a.csv'] }));
    expect(JSON.stringify(syncOf(scope))).not.toContain(account.secretAccessKey);
    expect(JSON.stringify(syncOf(scope))).not.toContain(account.accessKeyId);
    await newNode({ cipher: createSecretCipher(Buffer.alloc(32, 2)) }).run();
    expect(lastRun(scope)).toMatchObject({ result: 'failed', message: expect.stringContaining('another key') });
  });
});

describe('a download that takes long', () => {
  // A node that got SIGTERM at night waited for a slow file for up to ten minutes, and was killed.
  test('ends with its node, and its run is repeated', async () => {
    const scope = newScope();
    const node = await nodeThatReads(scope);
    await node.close();
    expect(lastRun(scope)).toMatchObject({ result: 'running', attempt: 1 });
  });

  test('ends with its project', async () => {
    const scope = newScope();
    const record = projectRecord({ _id: scope.project });
    await bench.writer.write([{ kind: 'project', id: record._id, record }]);
    const node = await nodeThatReads(scope);
    await bench.writer.write([{ kind: 'project', id: record._id, record: null }]);
    await node.run();
    expect(lastRun(scope)).toMatchObject({ result: 'running', attempt: 1 });
  });

  // A deleted sync went on: it read for half an hour, and then imported its files.
  test.each(['deleted', 'deleted and created again'])('ends when its sync is %s', async (how) => {
    const scope = newScope();
    const node = await nodeThatReads(scope);
    await bench.writer.write([{ kind: 'sync', id: syncOf(scope)._id, record: null }]);
    if (how !== 'deleted') await save(scope, { urls: [url('/a.csv')] });
    await node.tick();
    node.finish();
    await node.idle();
    expect(storedIds(scope)).toEqual([]);
    bodies.set('/a.csv', csv('1'));
    nowMs += 10_000;
    await node.run();
    expect(storedIds(scope)).toEqual(how === 'deleted' ? [] : ['1']);
  });

  test('ends when its sync is switched off, and says so', async () => {
    const scope = newScope();
    const node = await nodeThatReads(scope);
    await save(scope, { urls: syncOf(scope).urls, enabled: false });
    await node.run();
    nowMs += 10_000;
    await node.run();
    expect(lastRun(scope)).toMatchObject({
      result: 'interrupted',
      attempt: 1,
      message: 'The sync was switched off during the run.',
    });
  });
});

// Two slow syncs kept both places of a node for hours, and the syncs of other projects missed their night.
describe('the places of a node', () => {
  test('are given to whoever has waited longest', async () => {
    const scopes = [newScope(), newScope(), newScope()];
    for (const [index, scope] of scopes.entries()) {
      bodies.set(`/${index}.csv`, csv('1'));
      await save(scope, { urls: [url(`/${index}.csv`)] });
    }
    const waits = [3, 1, 2];
    const { at } = syncOf(scopes[0]!).requested;
    for (const [index, scope] of scopes.entries())
      await write({ ...syncOf(scope), requested: { reason: 'requested', at: at - waits[index]! * 1_000 } });
    const node = newNode({ bounds: { ...defaultSyncBounds, maxReadMs: ampleMs, maxBytes: 1_000_000, maxRunning: 1 } });
    for (const _ of scopes) await node.run();
    expect(requests).toEqual(['/0.csv', '/2.csv', '/1.csv']);
  });

  test('are given to one environment of a project at a time', async () => {
    const scope = newScope();
    const live: Scope = { ...scope, environment: 'live' };
    bodies.set('/live.csv', csv('1'));
    const node = await nodeThatReads(scope);
    await save(live, { urls: [url('/live.csv')] });
    await node.tick();
    expect(await bench.values.get(`sync/${syncOf(live)._id}`)).toBeUndefined();
  });

  test('are free again after a time limit for all files and attempts', async () => {
    const scope = newScope();
    const node = await nodeThatReads(scope, { maxReadMs: 300 });
    await node.idle();
    expect(lastRun(scope)).toMatchObject({ result: 'failed', message: expect.stringContaining('none was imported') });
    expect(lastRun(scope).files[0]?.message).toBe('the files of the run were not all read within 0.3 seconds');
  });

  // The run waited for an attempt beyond its time, held its place meanwhile, and then named the time as the reason.
  test('are free at once when the next attempt would come after that limit, and the run says what failed', async () => {
    const scope = newScope();
    const broken = createServer((_, response) => void response.writeHead(503).end());
    await new Promise<void>((listening) => broken.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void broken.close());
    await save(scope, { urls: [`http://127.0.0.1:${(broken.address() as AddressInfo).port}/a.csv`] });
    const pauses: number[] = [];
    await newNode({
      bounds: { ...defaultSyncBounds, maxReadMs: ampleMs, maxBytes: 1_000_000, retryDelaysMs: [1, 2 * ampleMs] },
      pause: async (ms) => void pauses.push(ms),
    }).run();
    expect(pauses).toEqual([1]);
    expect(lastRun(scope).files[0]?.message).toBe('the server answered 503 Service Unavailable');
  });
});

// A run waited for another import of its project for each of its files anew.
test('a run waits for another import for half an hour altogether', async () => {
  const scope = newScope();
  bodies.set('/a.csv', csv('1')).set('/b.csv', csv('2'));
  await save(scope, { urls: [url('/a.csv'), url('/b.csv')] });
  let waitedMs = 0;
  await newNode({
    importer: { importRecords: () => Promise.reject(new ApiError('import_running', 'another import is running')) },
    pause: async (ms) => {
      waitedMs += ms;
    },
  }).run();
  expect(lastRun(scope)).toMatchObject({ result: 'failed', files: [{ result: 'failed' }, { result: 'failed' }] });
  expect(waitedMs).toBe(30 * 60_000);
});

describe('mail', () => {
  test('tells of success and failure, with the counts', async () => {
    const scope = newScope();
    bodies.set('/a.csv?token=secret', csv('1', '2'));
    await save(scope, { urls: [url('/a.csv?token=secret')], notificationEmail: 'ops@example.com' });
    const node = newNode();
    await node.run();
    bodies.clear();
    nowMs += 24 * hourMs;
    await node.run();
    const [success, failure] = smtp.received.slice(-2);
    expect(success).toMatchObject({ to: ['ops@example.com'] });
    expect(success?.parsed.subject).toMatch(/^Sync of geofences succeeded: /);
    expect(success?.parsed.text).toContain('2 rows: 2 created, 0 updated, 0 unchanged, 0 rejected');
    expect(success?.raw).not.toContain('secret');
    expect(failure?.parsed.subject).toMatch(/^Sync of geofences failed: /);
    expect(failure?.parsed.text).toContain('the server answered 404 Not Found');
    expect(lastRun(scope).mailProblem).toBeNull();
  });

  test('that cannot be sent is a remark, not a failure', async () => {
    const scope = newScope();
    bodies.set('/a.csv', csv('1'));
    await save(scope, { urls: [url('/a.csv')], notificationEmail: 'ops@example.com' });
    await newNode({
      mailer: { send: async () => ({ kind: 'failed', failure: 'unreachable', message: 'no server' }) },
    }).run();
    expect(lastRun(scope)).toMatchObject({ result: 'succeeded', mailProblem: 'no server' });
  });

  // A mail server that did not answer held up the syncs of others for minutes: a node runs two at a time.
  test('that takes long holds up no other run', async () => {
    const [scope, other] = [newScope(), newScope()];
    bodies.set('/a.csv', csv('1'));
    const sent: string[] = [];
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const node = newNode({
      bounds: { ...defaultSyncBounds, maxReadMs: ampleMs, maxBytes: 1_000_000, maxRunning: 1 },
      mailer: {
        send: async ({ to }) => {
          sent.push(to);
          await answered;
          return { kind: 'failed', failure: 'unreachable', message: 'no server' };
        },
      },
    });
    await save(scope, { urls: [url('/a.csv')], notificationEmail: 'ops@example.com' });
    await node.tick();
    await until(() => sent.length === 1);
    // Another sync of this node, and the same one on another node.
    await save(other, { urls: [url('/a.csv')] });
    await until(async () => {
      await node.tick();
      return syncOf(other).lastRun?.result === 'succeeded';
    });
    const { _id } = lastRun(scope);
    await write(requestedSync(syncOf(scope), bench.writer.nextTimestamp()));
    await newNode().run();
    expect(lastRun(scope)._id).not.toBe(_id);
    answer();
    await node.idle();
    // The remark about the mail of the first run does not replace the second run.
    expect(lastRun(scope)).toMatchObject({ reason: 'requested', mailProblem: null });
  });

  // The result was stored, and the mail was only in the memory of the process.
  test('is sent by another node when the process was killed before it was sent', async () => {
    const scope = newScope();
    bodies.set('/a.csv', csv('1'));
    await save(scope, { urls: [url('/a.csv')], notificationEmail: 'ops@example.com' });
    let answer = () => {};
    const hanging = newNode({
      mailer: {
        send: () =>
          new Promise((resolve) => {
            answer = () => resolve({ kind: 'failed', failure: 'unreachable', message: 'killed' });
          }),
      },
    });
    await hanging.tick();
    await until(() => syncOf(scope).mailsDue?.length === 1);
    const before = smtp.received.length;
    const other = newNode();
    await other.run();
    // The first node still holds the mail.
    expect(smtp.received).toHaveLength(before);
    // A killed process renews no lease. The store forgets it, and another process begins a run before that.
    await write(requestedSync(syncOf(scope), bench.writer.nextTimestamp()));
    await other.run();
    await bench.values.delete(`sync-mail/${syncOf(scope).mailsDue?.[0]?._id}`);
    nowMs += 10_001;
    await other.run();
    expect(smtp.received.slice(before).map(({ parsed }) => parsed.subject)).toEqual([
      expect.stringMatching(/^Sync of geofences succeeded/),
      expect.stringMatching(/^Sync of geofences succeeded/),
    ]);
    expect(syncOf(scope)).not.toHaveProperty('mailsDue');
    answer();
    await hanging.idle();
    expect(lastRun(scope).mailProblem).toBeNull();
    await other.run();
    expect(smtp.received).toHaveLength(before + 2);
  });

  test('is bounded, so that nobody can flood an address', async () => {
    const scope = newScope();
    bodies.set('/a.csv', csv('1'));
    await save(scope, { urls: [url('/a.csv')], notificationEmail: 'ops@example.com' });
    const node = newNode({
      bounds: { ...defaultSyncBounds, maxReadMs: ampleMs, maxBytes: 1_000_000, maxMailsPerHour: 1 },
    });
    await node.run();
    const before = smtp.received.length;
    await write(requestedSync(syncOf(scope), bench.writer.nextTimestamp()));
    await node.run();
    expect(lastRun(scope)).toMatchObject({ reason: 'requested', mailProblem: 'more than 1 mails within an hour' });
    expect(smtp.received).toHaveLength(before);
  });

  // An owner of many projects could name the address of a stranger in all of them.
  test('is bounded for each address, over all environments', async () => {
    bodies.set('/a.csv', csv('1'));
    const node = newNode({
      bounds: { ...defaultSyncBounds, maxReadMs: ampleMs, maxBytes: 1_000_000, maxMailsPerAddressPerDay: 2 },
    });
    const before = smtp.received.length;
    const problems: (string | null)[] = [];
    for (const notificationEmail of ['ada@example.com', 'Ada@example.com', 'ADA@example.com', 'eve@example.com']) {
      const scope = newScope();
      await save(scope, { urls: [url('/a.csv')], notificationEmail });
      await node.run();
      problems.push(lastRun(scope).mailProblem);
    }
    expect(problems).toEqual([null, null, 'more than 2 mails of syncs to this address within a day', null]);
    expect(smtp.received).toHaveLength(before + 3);
  });
});

describe('several nodes', () => {
  test('run a sync once', async () => {
    const scope = newScope();
    bodies.set('/a.csv', csv('1'));
    await save(scope, { urls: [url('/a.csv')] });
    const nodes = [newNode(), newNode(), newNode()];
    await Promise.all(nodes.map((node) => node.run()));
    for (const node of nodes) await node.run();
    expect(requests).toEqual(['/a.csv']);
  });

  test('run once for the nights that all of them missed', async () => {
    const scope = newScope();
    bodies.set('/a.csv', csv('1'));
    await save(scope, { urls: [url('/a.csv')] });
    await newNode().run();
    nowMs += 9 * 24 * hourMs;
    requests = [];
    const [one, other] = [newNode(), newNode()];
    await one.run();
    await other.run();
    expect(requests).toEqual(['/a.csv']);
    expect(lastRun(scope)).toMatchObject({ reason: 'nightly', result: 'succeeded' });
  });

  test('end a run whose lease another one has, which repeats it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const scope = newScope();
    await save(scope, { urls: [url('/a.csv')] });
    const node = await nodeThatWaits();
    const lease = `sync/${syncOf(scope)._id}`;
    await bench.values.put(lease, 'another', hourMs);
    vi.advanceTimersToNextTimer();
    await node.idle();
    expect(lastRun(scope)).toMatchObject({ result: 'running', attempt: 1 });
    expect(await bench.values.get(lease)).toBe('another');
    await bench.values.delete(lease);
    bodies.set('/a.csv', csv('1'));
    await newNode().run();
    expect(lastRun(scope)).toMatchObject({ result: 'succeeded', attempt: 2 });
  });

  test('repeat a run whose node stops, and give up after several attempts', async () => {
    const scope = newScope();
    bodies.set('/a.csv', csv('1'));
    await save(scope, { urls: [url('/a.csv')] });
    for (let attempt = 1; attempt <= 3; attempt++) {
      // The node stops while the run waits.
      const stopping = await nodeThatWaits();
      expect(lastRun(scope)).toMatchObject({ result: 'running', attempt });
      await stopping.close();
    }
    await newNode().run();
    expect(lastRun(scope)).toMatchObject({ result: 'interrupted', attempt: 3 });
    nowMs += 24 * hourMs;
    await newNode().run();
    expect(lastRun(scope)).toMatchObject({ reason: 'nightly', result: 'succeeded', attempt: 1 });
  });
});

describe('a clock that is set back', () => {
  // A clock was wrong by a year, and then no night came for a year.
  test('leaves no night out', async () => {
    const scope = newScope();
    const properMs = nowMs;
    bodies.set('/a.csv', csv('1'));
    nowMs += 365 * 24 * hourMs;
    await save(scope, { urls: [url('/a.csv')] });
    const node = newNode();
    await node.run();
    nowMs = properMs + 24 * hourMs;
    await node.run();
    expect(lastRun(scope)).toMatchObject({ reason: 'nightly', startedAt: nowMs });
    await node.run();
    expect(requests).toHaveLength(2);
    await write(requestedSync(syncOf(scope), bench.writer.nextTimestamp()));
    await node.run();
    expect(lastRun(scope)).toMatchObject({ reason: 'requested' });
    await node.run();
    expect(requests).toHaveLength(3);
  });

  test('keeps no sync waiting that another node held', async () => {
    const scope = newScope();
    bodies.set('/a.csv', csv('1'));
    await save(scope, { urls: [url('/a.csv')] });
    const lease = `sync/${syncOf(scope)._id}`;
    await bench.values.put(lease, 'another', hourMs);
    const node = newNode();
    await node.run();
    await bench.values.delete(lease);
    nowMs -= hourMs;
    await node.run();
    expect(requests).toEqual(['/a.csv']);
  });
});

test('a sync that is off or deleted runs no more', async () => {
  const scope = newScope();
  bodies.set('/a.csv', csv('1'));
  await save(scope, { urls: [url('/a.csv')], enabled: false });
  const node = newNode();
  await node.run();
  expect(requests).toEqual([]);
  const { _id } = syncOf(scope);
  await bench.writer.write([{ kind: 'sync', id: _id, record: null }]);
  nowMs += 24 * hourMs;
  await node.run();
  expect(requests).toEqual([]);
});

test('a run ends with its project', async () => {
  const scope = newScope();
  const record = projectRecord({ _id: scope.project });
  await bench.writer.write([{ kind: 'project', id: record._id, record }]);
  await save(scope, { urls: [url('/a.csv')] });
  const node = await nodeThatWaits();
  await bench.writer.write([{ kind: 'project', id: record._id, record: null }]);
  // The record of the sync is still there, and due.
  await node.run();
  expect(lastRun(scope)).toMatchObject({ result: 'running', attempt: 1 });
});

test('no run ended by a fault', () => expect(problems).toEqual([]));
