import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readPlainGeofence } from '../api/geofences/fields.js';
import { readProposal } from './proposal.js';

const body = (externalId: string, fields: object = {}) => ({
  tag: 'shop',
  externalId,
  description: 'A shop',
  type: 'circle',
  coordinates: [10, 50],
  radius: 100,
  ...fields,
});
const ring = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 0],
];
const collection = (...features: object[]) => JSON.stringify({ type: 'FeatureCollection', features });
const feature = (geometry: object | null, properties: object | null) => ({ type: 'Feature', geometry, properties });
const problemsOf = (text: string): string[] =>
  readProposal(text).problems.map(({ where, message }) => `${where}: ${message}`);

describe('a file', () => {
  test('is read alike as an array, as lines and as features', () => {
    const radius = fc.oneof(fc.integer({ min: 5, max: 12_000 }), fc.constant('wide'));
    fc.assert(
      fc.property(fc.array(radius, { minLength: 1, maxLength: 8 }), (radii) => {
        const bodies = radii.map((radius, index) => body(`${index}`, { radius }));
        const files = {
          entry: JSON.stringify(bodies, null, 2),
          line: bodies.map((each) => JSON.stringify(each)).join('\n'),
          feature: collection(
            ...bodies.map(({ type, coordinates, ...rest }) => feature({ type: 'Point', coordinates }, rest)),
          ),
        };
        const normal = bodies.map((each) => readPlainGeofence(each));
        const problems = normal.flatMap((each, index) => (each.ok ? [] : [`${index + 1}: ${each.error.message}`]));
        for (const [word, text] of Object.entries(files)) {
          // One line of JSON is also a document.
          const place = word === 'line' && bodies.length === 1 ? 'entry' : word;
          expect(readProposal(text).geofences).toEqual(normal.flatMap((each) => (each.ok ? [each.value] : [])));
          expect(problemsOf(text)).toEqual(problems.map((problem) => `${place} ${problem}`));
        }
      }),
      { numRuns: 50 },
    );
  });

  test('may have empty lines, which are counted', () => {
    const text = `\n${JSON.stringify(body('a'))}\r\n\n{"tag":\n`;
    expect(readProposal(text).geofences).toHaveLength(1);
    expect(problemsOf(text)).toEqual([expect.stringMatching(/^line 4: is not JSON: /)]);
  });

  test('may have no geofences, but must say so', () => {
    expect(readProposal('[]')).toEqual({ geofences: [], problems: [] });
    expect(problemsOf('')).toEqual([expect.stringMatching(/^file: is not JSON: /)]);
  });

  test('that is an invalid document has one problem', () => {
    expect(problemsOf('[\n{},\n{}')).toEqual([expect.stringMatching(/^file: is not JSON: /)]);
    expect(problemsOf(JSON.stringify({ type: 'FeatureCollection' }))).toEqual(['file: features: must be a list']);
  });
});

describe('an entry', () => {
  // The field was ignored: the replay ran with another geofence than the one that was meant.
  test('regression: must have fields of a geofence only, of which those of answers are ignored', () => {
    const problem = /^entry 1: stopDetecton: is not a known field; did you mean stopDetection\?$/;
    expect(problemsOf(JSON.stringify([body('a', { stopDetecton: true })]))).toEqual([expect.stringMatching(problem)]);
    expect(problemsOf(JSON.stringify([body('a', { _id: 'x', createdAt: '2026-01-01T00:00:00Z' })]))).toEqual([]);
  });

  test('must be an object', () => {
    expect(problemsOf('[1, null, []]')).toEqual([1, 2, 3].map((index) => `entry ${index}: must be a JSON object`));
  });

  test('must have a unique pair of tag and external id', () => {
    expect(problemsOf(JSON.stringify([body('a'), body('a'), body('b', { tag: 'other' }), body('', {})]))).toEqual([
      'entry 2: externalId: entry 1 has the pair shop/a already',
      'entry 4: externalId: is required',
    ]);
  });
});

describe('a feature', () => {
  const { coordinates, ...properties } = body('a');

  test('is the geofence of its properties and geometry', () => {
    const polygon = collection(feature({ type: 'Polygon', coordinates: [ring] }, { ...properties, type: 'polygon' }));
    expect(readProposal(polygon).geofences).toMatchObject([{ type: 'polygon', ring, externalId: 'a' }]);
  });

  // Imports read both, so a file that was imported could not be replayed.
  test('regression: may be a line by itself, and have a polygon of several of which it has one', () => {
    const geometry = { type: 'MultiPolygon', coordinates: [[ring]] };
    const lines = ['a', 'b'].map((externalId) =>
      JSON.stringify(feature(geometry, { ...properties, type: 'Polygon', externalId })),
    );
    const { geofences, problems } = readProposal(lines.join('\n'));
    expect(problems).toEqual([]);
    expect(geofences).toMatchObject([
      { type: 'polygon', ring, externalId: 'a' },
      { type: 'polygon', ring, externalId: 'b' },
    ]);
  });

  test.each([
    [feature(null, properties), 'coordinates: is required'],
    [feature({ type: 'LineString', coordinates: ring }, properties), 'geometry: must be a Point or a Polygon'],
    [
      feature({ type: 'Polygon', coordinates: [ring] }, { ...properties, type: 'circle' }),
      'type: must fit the geometry, which is a Polygon',
    ],
    [
      feature({ type: 'Point', coordinates: [10, 95] }, properties),
      'coordinates: latitude, which comes second, must be -90 to 90',
    ],
    [feature({ type: 'Point', coordinates }, null), 'description: is required'],
  ])('is otherwise rejected', (given, problem) => {
    expect(problemsOf(collection(given))).toEqual([`feature 1: ${problem}`]);
  });
});
