/** Reading GeoJSON and lines of JSON: any features in any chunks, and files that are broken. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BrokenSource, type RowBatch, type SourceRow } from '../source.js';
import { bytesOf } from '../testing/fixtures.js';
import { geojsonRows } from './geojson.js';
import { ndjsonRows } from './ndjson.js';

async function rowsOf(batches: AsyncIterable<RowBatch>) {
  const rows: SourceRow[] = [];
  let broken: BrokenSource | undefined;
  try {
    for await (const batch of batches) rows.push(...batch.rows);
  } catch (error) {
    if (!(error instanceof BrokenSource)) throw error;
    broken = error;
  }
  return { rows, broken };
}
const geojson = (text: string, chunkBytes?: number) =>
  rowsOf(geojsonRows(bytesOf(text, chunkBytes), { findUnknown: () => undefined }));
const ndjson = (text: string, chunkBytes?: number) =>
  rowsOf(ndjsonRows(bytesOf(text, chunkBytes), { findUnknown: () => undefined }));

const nasty = fc.string({
  maxLength: 6,
  unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', 'é', '🙂', '\n', 'a'),
});
const properties = fc.dictionary(nasty, fc.oneof(nasty, fc.integer(), fc.array(nasty, { maxLength: 2 })), {
  maxKeys: 3,
});
const features = fc.array(properties, { maxLength: 5 });
const shape = fc.record({ features, indent: fc.nat(2), chunkBytes: fc.integer({ min: 1, max: 60 }), more: properties });
const feature = (given: object, geometry: object | null = null) => ({ type: 'Feature', properties: given, geometry });
const fieldsOf = ({ content }: SourceRow) => ('fields' in content ? content.fields : content.problem);

it('finds every feature of a collection, whatever stands in it and around it', async () => {
  await fc.assert(
    fc.asyncProperty(shape, async ({ features: all, indent, chunkBytes, more }) => {
      const collection = {
        more,
        type: 'FeatureCollection',
        features: all.map((given) => feature(given)),
        after: [more],
      };
      const { rows, broken } = await geojson(JSON.stringify(collection, null, indent), chunkBytes);
      expect(broken).toBeUndefined();
      expect(rows.map(({ line }) => line)).toEqual(all.map((_, index) => index + 1));
      expect(rows.map(fieldsOf)).toEqual(JSON.parse(JSON.stringify(all)));
    }),
  );
});

it('takes a collection with a byte order mark and blanks around it', async () => {
  expect(await geojson('\ufeff\r\n{"features":[{"type":"Feature","properties":{"a":1}}]}\r\n')).toMatchObject({
    rows: [{ content: { fields: { a: 1 } } }],
    broken: undefined,
  });
});

it('finds every line of JSON, in any chunks', async () => {
  await fc.assert(
    fc.asyncProperty(shape, async ({ features: all, chunkBytes, indent }) => {
      const text = `\ufeff${all.map((given) => `${'\n'.repeat(indent)}${JSON.stringify(given)}\r\n`).join('')}`;
      const { rows } = await ndjson(text, chunkBytes);
      expect(rows.map(({ line }) => line)).toEqual(all.map((_, index) => (index + 1) * (indent + 1)));
      expect(rows.map(fieldsOf)).toEqual(JSON.parse(JSON.stringify(all)));
    }),
  );
});

// Each line of a record that jq or a library had indented was a bad row.
it('finds every record of a text sequence, of one line or several, in any chunks', async () => {
  await fc.assert(
    fc.asyncProperty(shape, fc.boolean(), async ({ features: all, chunkBytes, indent }, hasMark) => {
      const records = all.map((given) => `\u001e${JSON.stringify(feature(given), null, indent)}\n`);
      const { rows } = await ndjson(`${hasMark ? '\ufeff' : ''}${records.join('')}`, chunkBytes);
      expect(rows.map(({ line }) => line)).toEqual(all.map((_, index) => index + 1));
      expect(rows.map(fieldsOf)).toEqual(JSON.parse(JSON.stringify(all)));
    }),
  );
  expect((await ndjson('\u001e{"a":1}\n\u001e{"a":\n\u001e{\n"a":2}\n')).rows.map(fieldsOf)).toEqual([
    { a: 1 },
    { column: 'row', rule: expect.stringContaining('must be JSON') },
    { a: 2 },
  ]);
});

// 65 kB of bad lines were parsed in one turn of the event loop, which took half a second.
it.each([
  ['lines', ndjsonRows, 'x\n'.repeat(2_000)],
  ['features', geojsonRows, `{"features":[${Array(2_000).fill('{x}').join(',')}]}`],
])('parses at most 500 %s at once', async (_, read, text) => {
  const sizes: number[] = [];
  for await (const { rows } of read(bytesOf(text), { findUnknown: () => undefined })) sizes.push(rows.length);
  expect(Math.max(...sizes)).toBe(500);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(2_000);
});

const ring = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 0],
];
describe('a geometry', () => {
  it.each([
    [{ type: 'Point', coordinates: [1, 2] }, {}, { type: 'circle', coordinates: [1, 2] }],
    [{ type: 'Point', coordinates: [1, 2] }, { type: 'isochrone' }, { type: 'isochrone', coordinates: [1, 2] }],
    [{ type: 'Polygon', coordinates: [ring] }, {}, { type: 'polygon', coordinates: ring }],
    [{ type: 'MultiPolygon', coordinates: [[ring]] }, { type: 'Polygon' }, { type: 'Polygon', coordinates: ring }],
    [
      { type: 'Polygon', coordinates: [ring, ring] },
      {},
      { column: 'geometry', rule: 'must be a polygon without holes' },
    ],
    [
      { type: 'MultiPolygon', coordinates: [[ring], [ring]] },
      {},
      { column: 'geometry', rule: 'must be one polygon, but has 2' },
    ],
    [{ type: 'LineString', coordinates: ring }, {}, { column: 'geometry', rule: 'must be a Point or a Polygon' }],
    [
      { type: 'Polygon', coordinates: [ring] },
      { type: 'circle' },
      { column: 'type', rule: 'must fit the geometry, which is a Polygon' },
    ],
  ])('%j with %j gives the fields', async (geometry, given, expected) => {
    const { rows } = await ndjson(JSON.stringify(feature(given, geometry)));
    expect(fieldsOf(rows[0]!)).toEqual(expected);
  });
});

describe('a file that is broken', () => {
  it.each([
    ['ends too early', '{"type":"FeatureCollection","features":[{"type":"Feature"},{"prop', 1, 2],
    ['has an item that is not an object', '{"features":[{"type":"Feature"},7]}', 1, 2],
    ['has no list of features', '{"type":"Feature"}', 0, 1],
    ['is no JSON', 'description,type', 0, 1],
    // The features of the second collection were lost, and the import succeeded.
    ['has a second collection', '{"features":[{"type":"Feature"}]}\n{"features":[{"type":"Feature"}]}', 1, 2],
    ['has text after its collection', '{"features":[{"type":"Feature"}]};', 1, 2],
    ['is a program', 'var stores = {"features":[{"type":"Feature"}]}', 0, 1],
  ])('%s', async (_, text, rows, line) => {
    const found = await geojson(text);
    expect(found.rows).toHaveLength(rows);
    expect(found.broken).toMatchObject({ line });
  });

  it('loses only lines and features that are not JSON', async () => {
    expect((await ndjson('{"a":1}\n{"a":\n[]\n{"a":2}')).rows.map(fieldsOf)).toEqual([
      { a: 1 },
      { column: 'row', rule: 'must be JSON: column 6: expected a value, not the end' },
      { column: 'row', rule: 'must be a JSON object' },
      { a: 2 },
    ]);
    expect(
      (await geojson('{"features":[{"type":"Feature",},{"a":1},{"type":"Feature","properties":{"a":2}}]}')).rows.map(
        fieldsOf,
      ),
    ).toEqual([
      { column: 'row', rule: expect.stringContaining('must be JSON') },
      { column: 'type', rule: 'must be Feature' },
      { a: 2 },
    ]);
  });
});
