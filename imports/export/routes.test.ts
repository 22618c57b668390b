import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { beaconRecord } from '../../api/beacons/record.js';
import { geofenceRecord } from '../../api/geofences/record.js';
import { adminApiKey, useApi } from '../../api/testing/fixtures.js';
import type { BeaconRecord } from '../../schemas/json/beacon.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import { beacon, geofence } from '../testing/arbitraries.js';
import { exportFormats } from './formats.js';
import { exportedText, exportRoutes, geofences, maxConcurrentExports } from './routes.js';

const api = await useApi({ addRoutes: exportRoutes, authorityCheckMs: 20 });
const scope = { project: api.project.record._id, environment: 'test' } as const;

async function file(path: string, headers: Record<string, string> = {}) {
  const answer = await api.app.inject({ url: path, headers: { authorization: api.secret, ...headers } });
  return { status: answer.statusCode, text: answer.payload, headers: answer.headers };
}

const rowsOf = (text: string): Record<string, string>[] => parse(text, { columns: true });
const externalIdsOf = (text: string) => rowsOf(text).map(({ externalId }) => externalId);

const count = 250;
const stored: GeofenceRecord[] = [];

beforeAll(async () => {
  const inputs = fc.sample(geofence, { numRuns: count, seed: 1 });
  inputs.forEach((input, index) => {
    const pair = { tag: index % 2 === 0 ? 'even' : 'odd', externalId: `${index}` };
    const changed = { ...input, ...pair, deleteAfter: null, metadata: { third: index % 3 === 0 } };
    stored.push(geofenceRecord(scope, changed, undefined, index + 1));
  });
  const elsewhere = geofenceRecord({ ...scope, environment: 'live' }, inputs[0]!, undefined, 1);
  const beacons: BeaconRecord[] = fc
    .sample(beacon, { numRuns: 3, seed: 1 })
    .map((input, index) => beaconRecord(scope, { ...input, tag: 't', externalId: `${index}` }, undefined, index + 1));
  await api.writer.write([
    ...[...stored, elsewhere].map((record) => ({
      kind: 'geofence' as const,
      id: record._id,
      record,
    })),
    ...beacons.map((record) => ({ kind: 'beacon' as const, id: record._id, record })),
  ]);
});

describe('an export', () => {
  test('has every record of the environment once, oldest first', async () => {
    const { status, text } = await file('/v1/geofences/export');
    expect(status).toBe(200);
    expect(externalIdsOf(text)).toEqual(stored.map(({ externalId }) => externalId));
  });

  test('keeps its order when records change', async () => {
    const changed = { ...stored[100]!, description: 'changed', updatedAt: 1_000_000 };
    await api.writer.write([{ kind: 'geofence', id: changed._id, record: changed }]);
    expect(externalIdsOf((await file('/v1/geofences/export')).text)[100]).toBe('100');
  });

  test.each([
    ['tag=odd', (index: number) => index % 2 === 1],
    ['externalId=17', (index: number) => index === 17],
    ['metadata[third]=true', (index: number) => index % 3 === 0],
    ['tag=even&metadata[third]=true', (index: number) => index % 6 === 0],
    ['createdAfter=1970-01-01T00:00:00.010Z', (index: number) => index + 1 > 10],
    ['createdBefore=1970-01-01T00:00:00.010Z&tag=odd', (index: number) => index + 1 < 10 && index % 2 === 1],
    ['tag=none', () => false],
  ])('takes the filters of the list: %s', async (query, isWanted) => {
    const { text } = await file(`/v1/geofences/export?${query}`);
    const wanted = stored.map(({ externalId }) => externalId).filter((_, index) => isWanted(index));
    expect(externalIdsOf(text)).toEqual(wanted);
  });

  test('of beacons has them', async () => {
    expect(externalIdsOf((await file('/v1/beacons/export')).text)).toEqual(['0', '1', '2']);
  });
});

describe('the format', () => {
  test.each([
    ['', {}, 'text/csv; charset=utf-8; header=present', 'csv'],
    ['?format=GeoJSON', {}, 'application/geo+json; charset=utf-8', 'geojson'],
    ['?format=ndjson', {}, 'application/x-ndjson; charset=utf-8', 'ndjson'],
    ['', { accept: 'text/html, application/geo+json;q=0.9' }, 'application/geo+json; charset=utf-8', 'geojson'],
    ['?format=csv', { accept: 'application/geo+json' }, 'text/csv; charset=utf-8; header=present', 'csv'],
    ['', { accept: '*/*' }, 'text/csv; charset=utf-8; header=present', 'csv'],
  ])('follows from parameter and Accept: %j %j', async (query, headers, contentType, extension) => {
    const answer = await file(`/v1/geofences/export${query}`, headers);
    expect(answer.headers['content-type']).toBe(contentType);
    expect(answer.headers['content-disposition']).toMatch(
      new RegExp(`^attachment; filename="geofences_test_\\d{8}T\\d{6}Z\\.${extension}"$`),
    );
  });

  test('GeoJSON has a feature for each record, with its id', async () => {
    const { features } = JSON.parse((await file('/v1/geofences/export?format=geojson')).text);
    expect(features.map(({ id }: { id: string }) => id)).toEqual(stored.map(({ _id }) => _id));
  });

  test.each(['format=xml', 'limit=3', 'createdBefore=soon', 'unknown=1'])('refuses %s', async (query) => {
    const answer = await file(`/v1/geofences/export?${query}`);
    expect([answer.status, JSON.parse(answer.text).meta.type]).toEqual([400, 'invalid_parameter']);
  });
});

// `Accept: constructor` found Object's constructor in the table of formats. The handler threw after the export was
// counted, so after four such calls every export of the project was refused until a restart.
test('a name that every object has is no format, and takes no place of an export', async () => {
  const unknown = ['constructor', '__proto__', 'tostring', 'text/html'];
  for (const accept of unknown.flatMap((each) => Array.from({ length: maxConcurrentExports }, () => each))) {
    const { status, headers } = await file('/v1/geofences/export', { accept });
    expect([accept, status]).toEqual([accept, 200]);
    expect(headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
  }
});

test('a publishable key exports nothing', async () => {
  const { status } = await file('/v1/geofences/export', { authorization: api.project.key('test', 'publishable') });
  expect(status).toBe(403);
});

/** Returns a resource whose walk never ends, and which counts the parts that were read of it. */
function endlessly(items: typeof stored) {
  const endless = {
    ...geofences,
    parts: 0,
    walk() {
      endless.parts += 1;
      return { items, next: 'more' };
    },
  };
  return endless;
}

test('records are read as the client reads, so an export of any size takes little memory', async () => {
  const endless = endlessly(stored);
  const text = exportedText(endless, api.readModel, scope, exportFormats.csv);
  const stream = Readable.from(text, { objectMode: false });
  const chunks = stream.iterator();
  for (let read = 0; read < 10; read++) await chunks.next();
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
  // Each part is larger than the stream's buffer, so one part waits in it and the next one behind it.
  expect(endless.parts).toBeLessThanOrEqual(12);
  stream.destroy();
});

// Parts of many exports were made in one turn, each of up to 15 MB, and stopped all other requests for seconds.
test('one part of all exports is made in each turn', async () => {
  const endless = endlessly([]);
  const ended = new AbortController();
  const texts = Array.from({ length: 20 }, () =>
    exportedText(endless, api.readModel, scope, exportFormats.csv, ended.signal),
  );
  const reading = texts.map((text) => expect(text.next().then(() => text.next())).rejects.toThrow('ended'));
  const made: number[] = [];
  for (let turn = 0; turn < 60; turn++) {
    await new Promise(setImmediate);
    made.push(endless.parts);
  }
  ended.abort(new Error('ended'));
  await Promise.all(reading);
  expect(made.slice(30).every((count, index) => count - made[29 + index]! <= 1)).toBe(true);
});

// Filters that match nothing examined a million records for nobody. The export kept its place meanwhile.
test('an export that finds nothing ends when its client leaves', async () => {
  const endless = endlessly([]);
  const client = new AbortController();
  const text = exportedText(endless, api.readModel, scope, exportFormats.csv, client.signal);
  const stream = Readable.from(text, { objectMode: false }).on('error', () => undefined);
  stream.resume();
  await expect.poll(() => endless.parts).toBeGreaterThan(10);
  client.abort(new Error('the client has left'));
  await new Promise((closed) => stream.once('close', closed));
  expect(stream.errored).toMatchObject({ message: 'the client has left' });
});

test('a project has a few exports at a time, and a client that leaves ends its own', async () => {
  const address = await api.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = new URL(address);
  const [input] = fc.sample(geofence, { numRuns: 1, seed: 1 });
  const big = { ...input!, description: 'x'.repeat(4_000), deleteAfter: null };
  const many = Array.from({ length: 4_000 }, (_, index) =>
    geofenceRecord(scope, { ...big, externalId: `big${index}` }, undefined, 10_000 + index),
  );
  await api.writer.write(many.map((record) => ({ kind: 'geofence' as const, id: record._id, record })));

  const request = `GET /v1/geofences/export HTTP/1.1\r\nHost: x\r\nAuthorization: ${api.secret}\r\n\r\n`;
  const sockets = Array.from({ length: maxConcurrentExports }, () => connect(Number(port), '127.0.0.1'));
  for (const socket of sockets) {
    socket.write(request);
    // Reads the headers, then no more.
    await once(socket, 'readable');
  }
  const refused = await file('/v1/geofences/export');
  expect([refused.status, JSON.parse(refused.text).meta.type]).toEqual([503, 'overloaded']);
  for (const socket of sockets) socket.destroy();
  await expect.poll(async () => (await file('/v1/geofences/export')).status).toBe(200);

  // A slow reader got all records, long after its key was revoked.
  const late = connect(Number(port), '127.0.0.1');
  late.write(request);
  await once(late, 'readable');
  const rotation = { environment: 'test', kind: 'secret' };
  await api.call('POST', `/v1/projects/${scope.project}/keys/rotate`, { key: adminApiKey, body: rotation });
  late.resume();
  let bytes = 0;
  late.on('data', (data) => {
    bytes += data.length;
  });
  await once(late, 'close');
  expect(bytes).toBeLessThan(4_000 * 4_000);
});
