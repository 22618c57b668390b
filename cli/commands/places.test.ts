import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { useApi } from '../../api/testing/fixtures.js';
import { CommandFailure, UsageError } from '../command.js';
import { run } from './places.js';

const api = await useApi();
await api.app.listen({ port: 0, host: '127.0.0.1' });
const address = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}/`;
const folder = mkdtempSync(join(tmpdir(), 'fenceline-places-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Imports a file with this content. Returns what the command printed, and why it failed. */
async function importFile(name: string, content: string, values: object = {}) {
  const output: string[] = [];
  const print = (text: string): void => void output.push(text);
  const spies = [vi.spyOn(console, 'log'), vi.spyOn(console, 'error')].map((spy) => spy.mockImplementation(print));
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  const file = join(folder, name);
  writeFileSync(file, content);
  const failure = await run({ address, key: api.secret, ...values }, ['import', file]).catch((error: Error) => error);
  return { output, failure };
}

const feature = (id: string, geometry: object, rest: object = {}) => ({
  type: 'Feature',
  properties: { _id: id, name: `Place ${id}`, ...rest },
  geometry,
});
const point = { type: 'Point', coordinates: [9.5, 47.1] };
const polygon = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 0],
    ],
  ],
};
const collection = (...features: object[]) => JSON.stringify({ type: 'FeatureCollection', features });

test('a FeatureCollection is imported, and importing it again changes nothing', async () => {
  const text = collection(feature('g1', point, { chain: 'acme' }), feature('g2', polygon));
  expect((await importFile('a.geojson', text)).output).toEqual(['2 created, 0 updated, 0 unchanged']);
  expect((await importFile('a.geojson', text)).output).toEqual(['Nothing changed: 0 created, 0 updated, 2 unchanged']);
  expect((await api.call('GET', '/v1/places/g2')).body.place).toMatchObject({ name: 'Place g2', geometry: polygon });
  expect((await api.call('GET', '/v1/places/g1')).body.place).toMatchObject({
    geometry: point,
    chain: { slug: 'acme' },
  });
});

test('lines may be places or features; each bad one is named, and the others are loaded', async () => {
  const lines = [
    { _id: 'n1', name: 'One', geometry: point },
    feature('n2', polygon),
    { _id: 'n3', name: 'No geometry' },
    { _id: 'n4', name: 'Unknown field', geometry: point, colour: 'red' },
    feature('n5', { type: 'LineString', coordinates: [] }),
  ];
  const text = `${lines.map((line) => JSON.stringify(line)).join('\n')}\nno JSON\n`;
  const { output, failure } = await importFile('b.ndjson', text);
  expect(output.slice(0, -1).sort()).toEqual([
    expect.stringMatching(/^3: geometry: is required/),
    expect.stringMatching(/^4: colour: is not a known field/),
    expect.stringMatching(/^5: geometry: must be/),
    expect.stringMatching(/^6: row: must be JSON/),
  ]);
  expect(output.at(-1)).toBe('2 created, 0 updated, 0 unchanged');
  expect(failure).toBeInstanceOf(CommandFailure);
});

// The batch of the API took the id of a Feature. The command answered that each place had none.
test('the id of a Feature names the place, also where GDAL has written it as a property', async () => {
  const named = (rest: object) => ({ type: 'Feature', geometry: point, ...rest });
  const text = collection(
    named({ id: 'f1', properties: { name: 'One' } }),
    named({ id: 'other', properties: { _id: 'f2', name: 'Two' } }),
    named({ properties: { id: 'f3', name: 'Three' } }),
  );
  expect((await importFile('f.geojson', text)).output).toEqual(['3 created, 0 updated, 0 unchanged']);
  for (const id of ['f1', 'f2', 'f3']) expect((await api.call('GET', `/v1/places/${id}`)).status).toBe(200);
});

test('more places than one request takes are sent in several', async () => {
  const many = Array.from({ length: 1_203 }, (_, index) => feature(`m${index}`, point));
  expect((await importFile('c.geojson', collection(...many))).output).toEqual(['1203 created, 0 updated, 0 unchanged']);
});

test('a broken file, a wrong key and a missing server fail with a reason', async () => {
  expect((await importFile('d.geojson', '{"type":"FeatureCollection","features":[{')).failure).toBeInstanceOf(
    CommandFailure,
  );
  const text = collection(feature('x', point));
  expect((await importFile('e.geojson', text, { key: 'prj_test_sk_wrong' })).failure).toBeInstanceOf(CommandFailure);
  const { failure } = await importFile('e.geojson', text, { address: 'http://127.0.0.1:9' });
  expect((failure as Error).message).toMatch(/^nothing answers at/);
  await expect(run({ key: 'k' }, ['import'])).rejects.toBeInstanceOf(UsageError);
  await expect(run({ key: 'k' }, ['import', join(folder, 'none.geojson')])).rejects.toBeInstanceOf(CommandFailure);
  await expect(run({ key: 'k' }, ['import', join(folder, 'e.csv')])).rejects.toBeInstanceOf(UsageError);
});

test('a server that is busy, or loses a connection, is asked again', async () => {
  let requests = 0;
  const busy = createServer((request, response) => {
    requests += 1;
    request.resume();
    response.setHeader('x-radar-request-id', '0');
    if (requests === 1) response.writeHead(503, { 'retry-after': '0' }).end('{}');
    else if (requests === 2) response.destroy();
    else response.end(JSON.stringify({ created: 1, updated: 0, unchanged: 0, problems: [] }));
  });
  await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void busy.close());
  const port = (busy.address() as AddressInfo).port;
  const { output } = await importFile('f.geojson', collection(feature('x', point)), {
    address: `http://127.0.0.1:${port}`,
  });
  expect(output).toEqual(['1 created, 0 updated, 0 unchanged']);
  expect(requests).toBe(3);
});
