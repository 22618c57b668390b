/** The routes of imports: every way to send a file, answers, progress, history and files of bad rows. */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { openStream } from '../api/stream/testing/open-stream.js';
import { adminApiKey, type Body, type TestProject, useApi } from '../api/testing/fixtures.js';
import { createHeldLeases } from '../pipeline/held-lease.js';
import { createGazetteer } from '../providers/geocoding/gazetteer/gazetteer.js';
import type { Geocoder } from '../providers/geocoding/geocoder.js';
import { until } from '../testing/until.js';
import { createImporter, type Importer } from './importer.js';
import { maxStreamsPerProject } from './progress-stream.js';
import { importRoutes } from './routes.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-uploads-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const maxFileBytes = 100_000;
let importer: Importer;
const gazetteer = createGazetteer();
/** Imports of addresses last with it. */
const slowGeocoder: Geocoder = {
  ...gazetteer,
  async forward(...query) {
    await delay(10);
    return gazetteer.forward(...query);
  },
};
const api = await useApi({
  authorityCheckMs: 20,
  addRoutes: (given) => async (app) => {
    const dependencies = { ...given, geometrySources: { geocoder: slowGeocoder } };
    importer = createImporter({ ...dependencies, leases: createHeldLeases(dependencies.values) });
    await app.register(importRoutes, { ...dependencies, importer, folder, maxFileBytes });
  },
});

const address = await api.app.listen({ port: 0, host: '127.0.0.1' });
// Otherwise closing waits for connections that a client opened without a request.
afterAll(() => api.app.server.closeAllConnections());

const header = 'description,type,tag,externalId,coordinates,radius';
const row = (tag: string, name: string, radius: number | string = 100) =>
  `Shop ${name},circle,${tag},${name},"[10.5,50.25]",${radius}`;
const csv = (...rows: string[]) => [header, ...rows].join('\n');

interface Sent {
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly resource?: string;
}

async function send(body: string | Buffer, query = '', { type = 'text/csv', headers, resource }: Sent = {}) {
  const answer = await api.app.inject({
    method: 'POST',
    url: `/v1/${resource ?? 'geofences'}/import${query}`,
    headers: { authorization: api.secret, 'content-type': type, ...headers },
    payload: body,
  });
  return { status: answer.statusCode, body: answer.json() as Body, headers: answer.headers };
}

const text = async (url: string) =>
  (await api.app.inject({ method: 'GET', url, headers: { authorization: api.secret } })).body;

const form = (name: string, content: string, type = 'text/csv') => ({
  body: [
    '--x',
    `Content-Disposition: form-data; name="file"; filename="${name}"`,
    `Content-Type: ${type}`,
    '',
    content,
    '--x--',
    '',
  ].join('\r\n'),
  options: { type: 'multipart/form-data; boundary=x' },
});

describe('a file', () => {
  it('is accepted as text/csv and answered with the results of its rows', async () => {
    const { status, body } = await send(csv(row('plain', 'a'), row('plain', 'b', 5)), '?fileName=shops.csv');
    expect(status).toBe(200);
    expect(body.import).toMatchObject({
      resource: 'geofences',
      status: 'completed',
      fileName: 'shops.csv',
      rows: 2,
      created: 1,
      rejected: 1,
      message: '1 created, 0 updated, 0 unchanged, 1 rejected',
      rejections: [{ line: 3, column: 'radius', value: '5', rule: 'must be a number from 10 to 10000 metres' }],
    });
    expect(body.import.requestedBy).toEqual({ kind: 'key', name: expect.stringMatching(/^prj_test_sk_….{4}$/) });
    expect((await api.call('GET', '/v1/geofences/plain/a')).status).toBe(200);
  });

  it('says so when it changes nothing', async () => {
    await send(csv(row('again', 'a')));
    const { body } = await send(csv(row('again', 'a')));
    expect(body.import.message).toBe('nothing changed: 0 created, 0 updated, 1 unchanged, 0 rejected');
  });

  it.each([
    ['shops.csv', 'application/vnd.ms-excel'],
    ['shops', 'text/csv'],
  ])('is accepted as the file %s of a form', async (name, type) => {
    const { body, options } = form(`C:\\files\\${name}`, csv(row('form', name)), type);
    const answer = await send(body, '', options);
    expect(answer.body.import).toMatchObject({ fileName: name, created: 1 });
  });

  // The field was ignored, and the import wrote.
  it.each(['before', 'after'])('is refused in a form with a field %s it, such as dryRun', async (place) => {
    const { body, options } = form('shops.csv', csv(row('field', place)));
    const field = '--x\r\nContent-Disposition: form-data; name="dryRun"\r\n\r\ntrue\r\n';
    const whole = place === 'before' ? `${field}${body}` : body.replace(/--x--/, `${field}--x--`);
    const answer = await send(whole, '', options);
    expect(answer).toMatchObject({ status: 400, body: { meta: { type: 'invalid_parameter', param: 'dryRun' } } });
    expect((await send(csv(row('field', place)))).body.import).toMatchObject({ created: 1 });
  });

  it('is accepted as GeoJSON and as lines of JSON', async () => {
    const properties = { description: 'Shop', tag: 'json', externalId: 'a', radius: 100 };
    const feature = { type: 'Feature', properties, geometry: { type: 'Point', coordinates: [10, 50] } };
    const collection = JSON.stringify({ type: 'FeatureCollection', features: [feature] });
    expect((await send(collection, '', { type: 'application/geo+json' })).body.import.created).toBe(1);
    const line = JSON.stringify({ ...properties, type: 'circle', coordinates: [10, 50] });
    expect((await send(`${line}\n`, '', { type: 'application/x-ndjson' })).body.import.unchanged).toBe(1);
  });

  it('is accepted compressed', async () => {
    const answer = await send(gzipSync(csv(row('gzip', 'a'))), '', { headers: { 'content-encoding': 'gzip' } });
    expect(answer.body.import.created).toBe(1);
  });

  it.each([
    ['another Content-Type', 'x', { type: 'application/pdf' }, 415, 'unsupported_media_type'],
    ['more bytes than the limit', 'x'.repeat(maxFileBytes + 1), {}, 413, 'body_too_large'],
    ['broken gzip', 'x', { headers: { 'content-encoding': 'gzip' } }, 400, 'invalid_body'],
    ['a form without a file', '--x--\r\n', { type: 'multipart/form-data; boundary=x' }, 400, 'invalid_body'],
    ['a form without a boundary', 'x', { type: 'multipart/form-data' }, 400, 'invalid_body'],
  ])('is refused with %s', async (_, body, options, status, type) => {
    expect(await send(body, '', options)).toMatchObject({ status, body: { meta: { type } } });
    expect(readdirSync(folder)).toEqual([]);
    // The project can import again.
    expect((await send(csv(row('after', 'a')))).status).toBe(200);
  });

  // The table of formats found Object's constructor. The answer was 500, and no reader could apply the stored change.
  it.each(['constructor', '__proto__'])('is refused in a form with the type %s', async (type) => {
    const { body, options } = form('shops', csv(row('inherited', 'a')), type);
    expect(await send(body, '', options)).toMatchObject({
      status: 415,
      body: { meta: { type: 'unsupported_media_type' } },
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  // The answer named the Content-Type that the request had.
  it.each(['shops.kml', 'shops.csv.gz', 'shops'])(
    'is refused in a form as %s, which the answer blames',
    async (name) => {
      const { body, options } = form(name, csv(row('named', 'a')), 'application/octet-stream');
      const { status, body: answer } = await send(body, '', options);
      expect(status).toBe(415);
      expect(answer.meta.message).toMatch(/^the name of the file must end with \.csv, \.geojson, /);
    },
  );

  it('is refused as a whole when its header has an unknown column', async () => {
    const { status, body } = await send(csv(row('header', 'a')).replace('radius', 'raduis'));
    expect(status).toBe(400);
    expect(body.meta).toMatchObject({
      type: 'invalid_parameter',
      param: 'raduis',
      message: 'line 1: raduis: is not a known column; did you mean radius?',
    });
    expect(body.import).toMatchObject({ status: 'failed', rows: 0 });
    expect((await api.call('GET', '/v1/geofences/header/a')).status).toBe(404);
  });

  it('is applied up to a broken quote', async () => {
    const { status, body } = await send(csv(row('quote', 'a'), '"Shop,circle', row('quote', 'b')));
    expect(status).toBe(400);
    expect(body.meta.message).toMatch(/^line 3: row: has a broken quote/);
    expect(body.import).toMatchObject({ status: 'failed', created: 1, failure: { line: 3, column: 'row' } });
    expect((await api.call('GET', '/v1/geofences/quote/a')).status).toBe(200);
  });

  it('needs a secret key', async () => {
    const key = api.project.key('test', 'publishable');
    expect(await api.call('POST', '/v1/geofences/import', { key, body: 'a=b' })).toMatchObject({ status: 403 });
  });

  it('can hold beacons', async () => {
    const beacons =
      'description,type,uid,instance,coordinates\nDoor,eddystone,00112233445566778899,aabbccddeeff,"[1,2]"';
    expect((await send(beacons, '', { resource: 'beacons' })).body.import).toMatchObject({ created: 1 });
    expect((await send(beacons, '', { resource: 'beacons' })).body.import).toMatchObject({ unchanged: 1 });
  });
});

describe('a dry run', () => {
  it('lists what would be done, and does nothing', async () => {
    await send(csv(row('dry', 'same'), row('dry', 'other')));
    const file = csv(row('dry', 'same'), row('dry', 'other', 200), row('dry', 'new'), row('dry', 'bad', 1));
    const { body } = await send(file, '?dryRun=true');
    expect(body.import).toMatchObject({
      dryRun: true,
      message: '1 would be created, 1 would be updated, 1 unchanged, 1 rejected',
      plannedRows: [
        { line: 2, action: 'unchanged', tag: 'dry', externalId: 'same' },
        { line: 3, action: 'updated', tag: 'dry', externalId: 'other', changed: ['radius'] },
        { line: 4, action: 'created', tag: 'dry', externalId: 'new' },
      ],
    });
    expect(await text(body.import.plannedFile)).toBe(
      'line,action,tag,externalId,changed\r\n' +
        '2,unchanged,dry,same,\r\n3,updated,dry,other,radius\r\n4,created,dry,new,\r\n',
    );
    expect((await api.call('GET', '/v1/geofences/dry/new')).status).toBe(404);
    expect((await api.call('GET', '/v1/geofences/dry/other')).body.geofence.geometryRadius).toBe(100);
  });
});

describe('the history', () => {
  it('lists imports per resource, newest first, page by page', async () => {
    const { record, key } = await api.newProject('History');
    const secret = key('test', 'secret');
    expect(record.name).toBe('History');
    for (const name of ['a', 'b', 'c']) {
      await api.app.inject({
        method: 'POST',
        url: `/v1/geofences/import?fileName=${name}`,
        headers: { authorization: secret, 'content-type': 'text/csv' },
        payload: csv(row('history', name)),
      });
    }
    const first = await api.call('GET', '/v1/imports?resource=geofences&limit=2', { key: secret });
    expect(first.body.imports.map(({ fileName }: Body) => fileName)).toEqual(['c', 'b']);
    expect(first.body.imports[0].rejections).toBeUndefined();
    const { cursor, hasMore } = first.body.meta;
    expect(hasMore).toBe(true);
    const second = await api.call('GET', `/v1/imports?resource=geofences&limit=2&cursor=${cursor}`, { key: secret });
    expect(second.body.imports.map(({ fileName }: Body) => fileName)).toEqual(['a']);
    expect((await api.call('GET', '/v1/imports?resource=beacons', { key: secret })).body.imports).toEqual([]);
    const id = first.body.imports[0]._id;
    expect((await api.call('GET', `/v1/imports/${id}`, { key: secret })).status).toBe(200);
    expect((await api.call('GET', `/v1/imports/${id}`)).status).toBe(404);
    expect((await api.call('GET', '/v1/imports', { key: secret })).status).toBe(400);
  });

  it('gives the bad rows as CSV, which can be corrected and sent again', async () => {
    const { body } = await send(csv(row('fix', 'a'), `${row('fix', 'b', 5)}`, '"Say ""hi"", all",circle,fix,c,no,100'));
    const rejected = await text(body.import.rejectedFile);
    expect(rejected).toBe(
      [
        `${header},rejected.line,rejected.column,rejected.rule`,
        'Shop b,circle,fix,b,"[10.5,50.25]",5,3,radius,must be a number from 10 to 10000 metres',
        '"Say ""hi"", all",circle,fix,c,no,100,4,coordinates,' +
          '"must be valid JSON: column 1: expected a value, not ""n"""',
        '',
      ].join('\r\n'),
    );
    const corrected = rejected.replace(',5,3', ',50,3').replace(',no,', ',"[1,2]",');
    expect((await send(corrected)).body.import).toMatchObject({ created: 2, rejected: 0 });
  });

  // The cells of such rows were empty where a key had a name of its own, and all were where a field was unknown.
  it('gives the bad rows of JSON as CSV with all that they have', async () => {
    const fields = { description: 'Kiosk', type: 'circle', tag: 'lines', coordinates: [1, 2] };
    const keyed = { ...fields, externalId: 'keyed', radius: 5, 'metadata.color': 'red', 'metadata[floor]': 2 };
    const misspelt = { ...fields, externalId: 'misspelt', raduis: 100 };
    const lines = [keyed, misspelt].map((line) => JSON.stringify(line)).join('\n');
    const { body } = await send(lines, '', { type: 'application/x-ndjson' });
    const rejected = await text(body.import.rejectedFile);
    const corrected = rejected.replace('"[1,2]",5,', '"[1,2]",50,').replace('"[1,2]",,', '"[1,2]",100,');
    expect(body.import.rejections).toMatchObject([
      { column: 'radius', value: '5' },
      { column: 'raduis', value: '100' },
    ]);
    expect((await send(corrected)).body.import).toMatchObject({ created: 2, rejected: 0 });
    const stored = (await api.call('GET', '/v1/geofences/lines/keyed')).body.geofence;
    expect(stored.metadata).toEqual({ color: 'red', floor: 2 });
  });

  it('keeps an import that has ended as it is when a caller stops it', async () => {
    const { body } = await send(csv(row('stop', 'a')));
    const stopped = await api.call('POST', `/v1/imports/${body.import._id}/stop`);
    expect(stopped).toMatchObject({ status: 200, body: { import: { status: 'completed', created: 1 } } });
    expect((await api.call('POST', '/v1/imports/000000000000000000000000/stop')).status).toBe(404);
  });

  it('streams the progress until the end', async () => {
    const { body } = await send(csv(row('stream', 'a')));
    for (const [url, accept] of [
      [`/v1/imports/${body.import._id}/stream`, '*/*'],
      [`/v1/imports/${body.import._id}`, 'text/event-stream'],
    ]) {
      const answer = await api.app.inject({ method: 'GET', url: url!, headers: { authorization: api.secret, accept } });
      expect(answer.headers['content-type']).toBe('text/event-stream');
      const [, event, data] = /^event: (\w+)\ndata: (.*)\n\n$/.exec(answer.body)!;
      expect(event).toBe('end');
      expect(JSON.parse(data!)).toMatchObject({ status: 'completed', created: 1 });
    }
    expect((await api.call('GET', '/v1/imports/000000000000000000000000/stream')).status).toBe(404);
  });
});

describe('streams of progress', () => {
  /** An import of a project that runs until `finish` is called. */
  async function runningImport(project: TestProject) {
    const scope = { project: project.record._id, environment: 'test' } as const;
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    async function* source() {
      yield Buffer.from(csv(row('lasting', 'a')));
      await finished;
    }
    const requestedBy = { kind: 'key', name: '…' } as const;
    const result = importer.importRecords({
      scope,
      resource: 'geofence',
      source: source(),
      format: 'csv',
      requestedBy,
    });
    const found = await until(() => api.readModel.imports.list({ ...scope, resource: 'geofences', limit: 1 }).items[0]);
    onTestFinished(async () => {
      finish();
      await result;
    });
    const open = async () => {
      const stream = await openStream(`${address}/v1/imports/${found._id}/stream`, project.key('test', 'secret'));
      onTestFinished(stream.close);
      return stream;
    };
    const head = (path: string) =>
      fetch(`${address}/v1/imports/${found._id}${path}`, {
        method: 'HEAD',
        headers: { authorization: project.key('test', 'secret'), accept: 'text/event-stream' },
      });
    return { open, head };
  }

  // They lasted until the import ended, whatever had become of the key.
  it('end when the key is replaced, and those of others do not', async () => {
    const [one, other] = [await api.newProject('One'), await api.newProject('Other')];
    const revoked = await (await runningImport(one)).open();
    const kept = await (await runningImport(other)).open();
    await replaceKey(one);
    await until(() => revoked.isClosed);
    expect(revoked.text()).toContain('event: progress');
    expect(kept.isClosed).toBe(false);
  });

  // Two hundred streams of one project refused those of all others.
  it('have a share of each project', async () => {
    const [one, other] = [await api.newProject('One'), await api.newProject('Other')];
    const mine = await runningImport(one);
    const streams = await Promise.all(Array.from({ length: maxStreamsPerProject }, mine.open));
    expect(new Set(streams.map(({ response }) => response.status))).toEqual(new Set([200]));
    expect((await mine.open()).response.status).toBe(503);
    expect((await (await runningImport(other)).open()).response.status).toBe(200);
    streams[0]!.close();
    await until(async () => (await mine.open()).response.status === 200);
  });

  // A HEAD request of an import opened a stream until the import ended, and one of the stream was answered 405.
  it('are not opened by HEAD requests, which get their headers', async () => {
    const project = await api.newProject('Head');
    const { open, head } = await runningImport(project);
    for (let count = 0; count < maxStreamsPerProject; count++) {
      for (const path of ['', '/stream']) {
        const { status, headers } = await head(path);
        expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      }
    }
    expect((await open()).response.status).toBe(200);
  });
});

it('a file that arrives after its key was replaced is not imported', async () => {
  const project = await api.newProject('Slow');
  const sender = request(`${address}/v1/geofences/import`, {
    method: 'POST',
    headers: { authorization: project.key('test', 'secret'), 'content-type': 'text/csv' },
  });
  const before = readdirSync(folder).length;
  sender.write(`${header}\n`);
  await until(() => readdirSync(folder).length > before);
  await replaceKey(project);
  sender.end(row('late', 'a'));
  const [response] = await once(sender, 'response');
  response.resume();
  expect(response.statusCode).toBe(401);
  expect(
    api.readModel.geofences({ project: project.record._id, environment: 'test', orderBy: 'createdAt', limit: 1 }).items,
  ).toEqual([]);
});

/** Replaces the secret test key of a project. Returns the new one. */
async function replaceKey({ record }: TestProject): Promise<string> {
  const body = { environment: 'test', kind: 'secret' };
  return (await api.call('POST', `/v1/projects/${record._id}/keys/rotate`, { key: adminApiKey, body })).body.key;
}

// It wrote on to its last row, minutes or hours after the revocation.
it('a running import is interrupted when its key is replaced', async () => {
  const project = await api.newProject('Revoked');
  const rows = Array.from({ length: 1_500 }, (_, number) => `Town,circle,town,${number},"Paris, TX",100`);
  const { body, status } = await send(
    ['description,type,tag,externalId,address,radius', ...rows].join('\n'),
    '?wait=0',
    { headers: { authorization: project.key('test', 'secret') } },
  );
  expect(status).toBe(202);
  const key = await replaceKey(project);
  const ended = await until(async () => {
    const { body: answer } = await api.call('GET', `/v1/imports/${body.import._id}`, { key });
    return answer.import.status !== 'running' && answer.import;
  });
  expect(ended.status).toBe('interrupted');
  expect(ended.rows).toBeLessThan(rows.length);
});

describe('a batch', () => {
  const point = { type: 'Point', coordinates: [1, 2] };
  const shop = (name: string, more: object = {}) => ({
    description: `Shop ${name}`,
    type: 'circle',
    tag: 'batch',
    externalId: name,
    coordinates: [10, 50],
    radius: 100,
    ...more,
  });

  it('upserts records and reports each', async () => {
    await api.call('POST', '/v1/geofences', { body: shop('same') });
    const geofences = [
      shop('same'),
      shop('new'),
      shop('bad', { radius: 1 }),
      shop('new'),
      7,
      shop('odd', { raduis: 1 }),
    ];
    const { status, body } = await api.call('POST', '/v1/geofences/batch', { body: { geofences } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ created: 1, updated: 0, unchanged: 1, rejected: 4 });
    expect(body.results.map(({ action, error }: Body) => [action, error?.message])).toEqual([
      ['unchanged', undefined],
      ['created', undefined],
      ['rejected', 'radius: must be a number from 10 to 10000 metres'],
      ['rejected', 'externalId: repeats the tag and externalId of record 2, which counts; name each pair once'],
      ['rejected', 'record: must be an object'],
      ['rejected', 'raduis: is not a known field; did you mean radius?'],
    ]);
    expect((await api.call('GET', `/v1/geofences/${body.results[1]._id}`)).body.geofence.externalId).toBe('new');
  });

  // All had the type `invalid_parameter`, so a program could not tell what may succeed later.
  it('answers for each record the type of error that a single write has', async () => {
    const isochrone = shop('isochrone', { type: 'isochrone', radius: 10, mode: 'foot' });
    const { body } = await api.call('POST', '/v1/geofences/batch', { body: { geofences: [isochrone] } });
    const single = await api.call('POST', '/v1/geofences', { body: isochrone });
    const { type, param, message } = single.body.meta;
    expect(type).toBe('not_available');
    expect(body.results[0].error).toEqual({ type, param, message });
  });

  // Rows of one write share their time, and pages by time lost those of them that a page had cut off.
  it('is listed whole by pages of times', async () => {
    const key = (await api.newProject('Pages of times')).key('test', 'secret');
    const geofences = Array.from({ length: 30 }, (_, index) => shop(`${index}`));
    await api.call('POST', '/v1/geofences/batch', { key, body: { geofences } });
    const listed: string[] = [];
    for (let before = ''; ; ) {
      const { body } = await api.call('GET', `/v1/geofences?limit=7${before}`, { key });
      listed.push(...body.geofences.map(({ externalId }: { externalId: string }) => externalId));
      if (!body.meta.hasMore) break;
      before = `&updatedBefore=${body.geofences.at(-1).updatedAt}`;
    }
    expect(listed.sort()).toEqual(geofences.map(({ externalId }) => externalId).sort());
  });

  // Rows of an import that were not stored yet did not count, so a place could have any number of geofences.
  it('lets no more geofences follow a place than may', async () => {
    const key = (await api.newProject('Followers')).key('test', 'secret');
    await api.call('PUT', '/v1/places/kiosk', { key, body: { name: 'Kiosk', geometry: point } });
    const followers = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) =>
        shop(`${from + index}`, { placeId: 'kiosk', coordinates: undefined }),
      );
    const upsert = async (geofences: object[]) =>
      (await api.call('POST', '/v1/geofences/batch', { key, body: { geofences } })).body;
    expect(await upsert(followers(0, 500))).toMatchObject({ created: 500 });
    const { results, ...counts } = await upsert(followers(400, 700));
    expect(counts).toMatchObject({ created: 500, unchanged: 100, rejected: 100 });
    expect(results[600].error.message).toBe('placeId: has 1000 geofences already, the most that may follow one place');
  });

  // Each of them counted before another one was stored.
  it('and edits at the same time let no more geofences follow a place than may', async () => {
    const key = (await api.newProject('Followers at once')).key('test', 'secret');
    await api.call('PUT', '/v1/places/kiosk', { key, body: { name: 'Kiosk', geometry: point } });
    const fields = { description: 'Kiosk', type: 'circle', radius: 100, placeId: 'kiosk' };
    const geofences = Array.from({ length: 990 }, (_, index) => ({ ...fields, tag: 'kiosk', externalId: `${index}` }));
    await api.call('POST', '/v1/geofences/batch', { key, body: { geofences } });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        api.call('PUT', `/v1/geofences/kiosk/${980 + index}`, { key, body: fields }),
      ),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(20);
    expect(refused[0]?.body.meta.message).toBe(
      'placeId: has 1000 geofences already, the most that may follow one place',
    );
  });

  // A batch that waited for others was applied although its key was revoked meanwhile.
  it('that waits is refused when its key is replaced', async () => {
    const project = await api.newProject('Batches');
    const key = project.key('test', 'secret');
    const geofences = Array.from({ length: 500 }, (_, number) => ({
      ...shop(`${number}`, { address: 'Paris, TX' }),
      coordinates: undefined,
    }));
    const first = api.call('POST', '/v1/geofences/batch', { key, body: { geofences } });
    const second = api.call('POST', '/v1/geofences/batch', { key, body: { geofences: [shop('late')] } });
    await replaceKey(project);
    expect(await second).toMatchObject({ status: 401 });
    expect((await first).body.created).toBeLessThanOrEqual(500);
  });

  it.each([
    [{}, 'geofences: must be a list of geofences'],
    // A dry run that was asked for in the body wrote the records.
    [{ geofences: [shop('dry')], dryRun: true }, 'dryRun: is not a known field; known are geofences'],
    [{ geofences: Array.from({ length: 1_001 }, () => 1) }, 'geofences: must have at most 1000 records; use an import'],
  ])('has a list of at most a thousand records', async (body, message) => {
    const answer = await api.call('POST', '/v1/geofences/batch', { body });
    expect(answer).toMatchObject({ status: 400, body: { meta: { message } } });
  });

  // Other calls read JSON text in the fields of a form. A batch said that it must be a list.
  it('regression: reads JSON text in the field of a form', async () => {
    const body = new URLSearchParams({ geofences: JSON.stringify([shop('form')]) }).toString();
    const answer = await api.call('POST', '/v1/geofences/batch', { body });
    expect(answer).toMatchObject({ status: 200, body: { created: 1, results: [{ externalId: 'form' }] } });
    const broken = await api.call('POST', '/v1/geofences/batch', { body: 'geofences=[{' });
    expect(broken).toMatchObject({ status: 400, body: { meta: { param: 'geofences' } } });
    expect(broken.body.meta.message).toContain('must be valid JSON');
  });
});
