import { describe, expect, it } from 'vitest';
import { importFormatsByExtension } from '../../schemas/import-formats';
import { samples } from './columns';
import { featureTexts, formatOf, previewOf } from './preview';
import { plannedRows, rejectedRows } from './rows';

const whole = (text: string) => ({ shown: text.length, total: text.length });
const preview = (text: string, format: 'csv' | 'geojson' | 'ndjson' = 'csv') =>
  previewOf('geofences', format, text, whole(text));

describe('the preview of a file', () => {
  it('shows the sample files without a problem', () => {
    for (const resource of ['geofences', 'beacons'] as const) {
      const text = samples[resource];
      const { columns, missing, problem, rows, shapes } = previewOf(resource, 'csv', text, whole(text));
      expect(columns.filter(({ state }) => state !== 'known')).toEqual([]);
      expect({ missing, problem, rows: rows.length }).toEqual({ missing: [], problem: undefined, rows: 3 });
      expect(shapes[resource]).toHaveLength(3);
    }
  });

  it('ended with an error when only some rows had a field that every object inherits', () => {
    const { rows } = preview('{"constructor":"a"}\n{"description":"b"}\n', 'ndjson');
    expect(rows.map(({ cells }) => cells)).toEqual([
      ['a', ''],
      ['', 'b'],
    ]);
  });

  it('names columns that are unknown, ignored and missing', () => {
    const { columns, missing } = preview(
      'description,type,tag,id,metadata.a,metadata[b],rejected.rule\nA,circle,b,c,1,2,\n',
    );
    expect(columns.map(({ state }) => state)).toEqual([
      ...['known', 'known', 'known', 'unknown', 'known', 'known', 'ignored'],
    ]);
    expect(missing).toEqual(['externalId']);
  });

  it.each([
    ['description;type;tag', 'The columns are separated by semicolons. They must be separated by commas.'],
    ['', 'The file has no rows.'],
    ['description\n"a', 'The row that begins on line 2 has a broken quote. Nothing after it can be read.'],
    ['description\n\uFFFD', 'The file is not UTF-8. Save it as UTF-8, and choose it again.'],
  ])('says what is wrong with %j', (text, problem) => {
    expect(preview(text).problem).toBe(problem);
  });

  it('estimates the rows of a file from its beginning, without a row that is cut', () => {
    const text = 'description,type\naaaaaaaaaaaa,circle\nbbbbbbbbbbb';
    const { rows, isWhole, estimatedRows } = previewOf('geofences', 'csv', text, { shown: 50, total: 5_000 });
    expect({ rows: rows.length, isWhole, estimatedRows }).toEqual({ rows: 1, isWhole: false, estimatedRows: 100 });
  });

  it('draws circles and polygons, and counts rows that it cannot draw', () => {
    const ring = '[[0,0],[1,0],[1,1],[0,0]]';
    const lines = [
      'type,coordinates,radius',
      'Circle,"[10,50]",100',
      `polygon,"${ring}",`,
      'circle,"[10,91]",5',
      'isochrone,"[1,1]",5',
    ];
    const { geofences, withoutShape } = preview(lines.join('\n')).shapes;
    expect(geofences.map(({ type, geometryCenter }) => [type, geometryCenter.coordinates])).toEqual([
      ['circle', [10, 50]],
      ['polygon', [0.5, 0.5]],
    ]);
    expect(withoutShape).toBe(2);
  });

  it('reads features of a collection whose end is cut, and lines of JSON', () => {
    const feature = (name: string) => ({
      type: 'Feature',
      properties: { description: name, odd: '}]"' },
      geometry: { type: 'Point', coordinates: [1, 2] },
    });
    const text = JSON.stringify({ name: '{', type: 'FeatureCollection', features: [feature('a'), feature('b')] });
    expect(featureTexts(text).map((each) => JSON.parse(each))).toEqual([feature('a'), feature('b')]);
    expect(featureTexts(text.slice(0, -10)).map((each) => JSON.parse(each))).toEqual([feature('a')]);
    expect(preview(text, 'geojson').columns).toContainEqual({ name: 'odd', state: 'unknown' });
    expect(preview('{"description":"a"}\n\n{', 'ndjson')).toMatchObject({
      rows: [{ line: 1, cells: ['a'] }, { line: 3 }],
      problem: 'Line 3 is not a JSON object.',
    });
  });

  it.each([
    ['shops.csv', 'a,b', 'csv'],
    ['shops.CSV.gz', 'a,b', 'csv'],
    ['shops.jsonl', '{', 'ndjson'],
    ['shops.geojson', '{', 'geojson'],
    ['shops.json', '{"type":"FeatureCollection","features":[]}', 'geojson'],
    ['shops.json', '{\n"type":', 'geojson'],
    ['shops.json', '{"tag":"a"}\n{"tag":"b"}', 'ndjson'],
    ['shops', '{"tag":"a"}\n', 'ndjson'],
  ])('takes %s with %j for %s', (name, text, format) => {
    expect(formatOf(name, text)).toBe(format);
  });
});

it.each(Object.entries(importFormatsByExtension))('takes %s for %s, as the server does', (extension, format) => {
  expect(formatOf(`shops${extension}`, '')).toBe(format);
});

describe('the rows of an import', () => {
  it('are read from the files of the server', () => {
    expect(plannedRows('line,action,tag,externalId,changed\r\n3,updated,store,"a,b",radius metadata\r\n')).toEqual([
      { line: 3, action: 'updated', tag: 'store', externalId: 'a,b', changed: 'radius, metadata' },
    ]);
    const rejected =
      'tag,externalId,radius,rejected.line,rejected.column,rejected.rule\r\nstore,a,5,7,radius,is small\r\n';
    expect(rejectedRows(rejected)).toEqual([
      {
        line: 7,
        action: 'rejected',
        tag: 'store',
        externalId: 'a',
        column: 'radius',
        value: '5',
        rule: 'is small',
      },
    ]);
  });
});
