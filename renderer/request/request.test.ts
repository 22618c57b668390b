import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { parseColor } from './colors.js';
import { decodePolyline } from './polyline.js';
import { type Query, readMapQuery } from './request.js';

const size = { width: '600', height: '400' };
const camera = { center: '43.77,11.25', zoom: '12.5' };

const request = (query: Query, headers?: Parameters<typeof readMapQuery>[1]) => {
  const read = readMapQuery({ ...size, ...query }, headers);
  if (!read.ok) throw new Error(`${read.problem.param}: ${read.problem.rule}`);
  return read.value.request;
};

/** The encoder of the format's description, written from it: the oracle of the decoder. */
function encodePolyline(points: readonly (readonly [latitude: number, longitude: number])[]): string {
  const encodeNumber = (value: number): string => {
    let rest = BigInt(value) * 2n;
    if (value < 0) rest = -rest - 1n;
    let text = '';
    while (rest >= 32n) {
      text += String.fromCharCode(Number((32n | (rest % 32n)) + 63n));
      rest /= 32n;
    }
    return text + String.fromCharCode(Number(rest) + 63);
  };
  let [latitude, longitude] = [0, 0];
  return points
    .map(([nextLatitude, nextLongitude]) => {
      const text = encodeNumber(nextLatitude - latitude) + encodeNumber(nextLongitude - longitude);
      [latitude, longitude] = [nextLatitude, nextLongitude];
      return text;
    })
    .join('');
}

describe('a polyline', () => {
  test.each([5, 6] as const)('with %d decimals decodes to what was encoded', (decimals) => {
    const unit = 10 ** decimals;
    const point = fc.tuple(
      fc.integer({ min: -90 * unit, max: 90 * unit }),
      fc.integer({ min: -180 * unit, max: 180 * unit }),
    );
    fc.assert(
      fc.property(fc.array(point, { maxLength: 40 }), (points) => {
        const expected = points.map(([latitude, longitude]) => [longitude / unit, latitude / unit]);
        expect(decodePolyline(encodePolyline(points), decimals)?.map(([x, y]) => [x + 0, y + 0])).toEqual(
          expected.map(([x, y]) => [x! + 0, y! + 0]),
        );
      }),
    );
  });

  test("the example of the format's description", () => {
    expect(decodePolyline('_p~iF~ps|U_ulLnnqC_mqNvxq`@', 5)).toEqual([
      [-120.2, 38.5],
      [-120.95, 40.7],
      [-126.453, 43.252],
    ]);
  });

  test.each([['?'], ['_p~iF~ps|'], ['~~~~~~~~'], ['_p~iF ps|U'], ['é?'], ['_p~iF~ps|U_']])('%s is refused', (text) => {
    expect(decodePolyline(text, 5)).toBeUndefined();
  });
});

test.each([
  ['0xFF8000', [255, 128, 0, 1]],
  ['0xff800000', [255, 128, 0, 0]],
  ['White', [255, 255, 255, 1]],
  ['rebeccapurple', [102, 51, 153, 1]],
  ['transparent', [0, 0, 0, 0]],
  ['#ff8000', undefined],
  ['0xFF80', undefined],
  ['constructor', undefined],
  ['', undefined],
])('the colour %j', (text, color) => {
  expect(parseColor(text)).toEqual(color);
});

describe('a request', () => {
  test('has default values', () => {
    expect(request(camera)).toEqual({
      width: 600,
      height: 400,
      scale: 1,
      camera: { center: [11.25, 43.77], zoom: 12.5, bbox: null },
      style: 'svc-default-v1',
      language: 'en',
      format: 'png',
      markers: [],
      paths: [],
    });
  });

  test.each([
    ['language=it', { language: 'it' }],
    ['language=native', { language: 'native' }],
    ['language=zh-Hant-TW', { language: 'zh-Hant' }],
    ['language=zh-HK', { language: 'zh-Hant' }],
    ['language=zh-Hans-CN', { language: 'zh' }],
    // Android and iOS write locales so, and Java has former codes of three languages: such maps were refused.
    ['language=en_US', { language: 'en' }],
    ['language=zh_TW', { language: 'zh-Hant' }],
    ['language=iw', { language: 'he' }],
    ['language=in_ID', { language: 'id' }],
    ['language=ji', { language: 'yi' }],
    ['language=mo', { language: 'ro' }],
    ['style=svc-dark-v1', { style: 'svc-dark-v1' }],
    ['scale=2.5', { scale: 2.5 }],
    // Browsers and React Native measure fractions of a pixel: such maps were refused.
    ['width=411.42857142857144&height=100.49', { width: 411, height: 100 }],
    ['width=2047.5', { width: 2048 }],
    ['format=JPEG', { format: 'jpg' }],
    ['bbox=-20,170,-10,-170', { camera: { center: null, zoom: null, bbox: [170, -20, -170, -10] } }],
    // JavaScript writes small numbers so: maps at Greenwich or the equator were refused.
    ['center=51.5,1e-7', { camera: { center: [1e-7, 51.5], zoom: 12.5, bbox: null } }],
    ['markers=-1.5E-07,2', { markers: [{ locations: [[2, -1.5e-7]] }] }],
  ])('reads %s', (query, expected) => {
    expect(request({ ...camera, ...Object.fromEntries(new URLSearchParams(query)) })).toMatchObject(expected);
  });

  test.each([
    ['image/avif,image/webp,image/apng,*/*;q=0.8', 'webp'],
    ['image/png,image/webp', 'png'],
    ['image/jpeg', 'jpg'],
    ['*/*', 'png'],
    ['', 'png'],
    ['text/html', 'png'],
  ])('Accept: %s asks for %s, unless a parameter does', (accept, format) => {
    expect(request(camera, { accept }).format).toBe(format);
    expect(request({ ...camera, format: 'jpg' }, { accept }).format).toBe('jpg');
  });

  // `local` was the names on signs, whatever the device speaks.
  test.each([
    ['fr-CH,fr;q=0.9,en;q=0.8,*;q=0.5', 'fr'],
    ['en;q=0.5, it ; q=0.7, de;q=0', 'it'],
    ['gsw, zh-TW;q=0.9', 'zh-Hant'],
    ['iw-IL, en;q=0.5', 'he'],
    ['*', 'en'],
    ['de;q=high', 'en'],
    ['', 'en'],
    [undefined, 'en'],
  ])('Accept-Language: %s makes local %s, and nothing else', (header, language) => {
    const headers = { 'accept-language': header };
    for (const local of ['local', 'Local'])
      expect(request({ ...camera, language: local }, headers)).toMatchObject({ language });
    expect(request({ ...camera, language: 'ja' }, headers)).toMatchObject({ language: 'ja' });
    expect(request(camera, headers)).toMatchObject({ language: 'en' });
  });

  test('fits its overlays without centre or zoom', () => {
    expect(request({ markers: '1,2' }).camera).toEqual({ center: null, zoom: null, bbox: null });
    expect(request({ path: '1,2|3,4', zoom: '3' }).camera).toEqual({ center: null, zoom: 3, bbox: null });
    expect(request({ geofences: 'store' }).camera).toEqual({ center: null, zoom: null, bbox: null });
  });
});

describe('markers', () => {
  test('accept options in any case and order, empty segments, and several groups', () => {
    const { markers } = request({
      markers: ['|Size:SMALL|color:red|1,2| 3 , -4 |', 'icon:https://a.example/b@3x.png?c=d:e|5,6'],
    });
    expect(markers).toEqual([
      {
        color: [255, 0, 0, 1],
        size: 'small',
        icon: null,
        locations: [
          [2, 1],
          [-4, 3],
        ],
      },
      { color: [0, 2, 0x57, 1], size: 'normal', icon: 'https://a.example/b@3x.png?c=d:e', locations: [[6, 5]] },
    ]);
  });
});

describe('a path', () => {
  test('accepts locations, polylines that contain the separator, and a LineString', () => {
    expect(request({ path: '|stroke:0xFF0000|borderwidth:0|width:4.5|1,2|3,4' }).paths).toEqual([
      {
        stroke: [255, 0, 0, 1],
        width: 4.5,
        border: [255, 255, 255, 1],
        borderWidth: 0,
        locations: [
          [2, 1],
          [4, 3],
        ],
      },
    ]);
    const polyline = '_p~iF~ps|U_ulLnnqC_mqNvxq`@';
    expect(request({ path: `border:black|enc:${polyline}` }).paths[0]?.locations).toEqual(decodePolyline(polyline, 5));
    expect(request({ path: `ENC6:${polyline}` }).paths[0]?.locations).toEqual(decodePolyline(polyline, 6));
    const line = JSON.stringify({
      type: 'LineString',
      coordinates: [
        [1, 2],
        [3, 4, 5],
      ],
    });
    expect(request({ path: `width:2|${line}` }).paths[0]?.locations).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });
});

test.each<[Query, string, string]>([
  [{ width: undefined }, 'width', 'is required'],
  [{ width: '99' }, 'width', '100 to 2048 pixels'],
  [{ height: '2049' }, 'height', '100 to 2048'],
  [{ height: '1e3' }, 'height', 'number'],
  [{ width: 'Infinity' }, 'width', 'number'],
  [{ scale: '3.1' }, 'scale', '1 to 3'],
  [{ scale: '0' }, 'scale', '1 to 3'],
  [{ center: undefined }, 'center', 'required'],
  [{ center: '43.77' }, 'center', 'latitude,longitude'],
  [{ center: '91,0' }, 'center', 'latitude, which comes first, must be -90 to 90'],
  [{ center: '11.25,243' }, 'center', 'longitude, which comes second, must be -180 to 180'],
  [{ zoom: undefined }, 'zoom', 'required'],
  [{ zoom: '0.9' }, 'zoom', '1 to 23'],
  [{ zoom: '24' }, 'zoom', '1 to 23'],
  [{ bbox: '1,2,3' }, 'bbox', 'min_latitude'],
  [{ bbox: '3,2,1,4' }, 'bbox', 'min_latitude must be less than max_latitude'],
  [{ bbox: '-91,2,1,4' }, 'bbox', 'min_latitude,min_longitude: latitude, which comes first'],
  [{ bbox: '1,2,1,2' }, 'bbox', 'min_latitude must be less than max_latitude'],
  [{ bbox: '1,2,1,4' }, 'bbox', 'min_latitude must be less than max_latitude'],
  [{ bbox: '1,2,3,2' }, 'bbox', 'different'],
  [{ width: '99.9' }, 'width', '100 to 2048'],
  [{ height: '2048.01' }, 'height', '100 to 2048'],
  [{ language: '' }, 'language', 'two-letter'],
  [{ language: 'xx' }, 'language', 'two-letter'],
  [{ language: 'english' }, 'language', 'two-letter'],
  [{ style: ' ' }, 'style', 'must be one of'],
  [{ format: '' }, 'format', 'must be png'],
  [{ style: '../etc' }, 'style', 'one of'],
  [{ format: 'gif' }, 'format', 'png, webp or jpg'],
  [{ markers: 'color:red' }, 'markers', 'at least one location'],
  [{ markers: 'color:reddish|1,2' }, 'markers', 'color must be 0xRRGGBB, 0xRRGGBBAA or'],
  [{ path: 'border:0xFF00|1,2|3,4' }, 'path', 'border must be 0xRRGGBB, 0xRRGGBBAA or'],
  [{ markers: 'size:huge|1,2' }, 'markers', 'size'],
  [{ markers: 'icon:|1,2' }, 'markers', 'icon'],
  [{ markers: 'label:A|1,2' }, 'markers', 'no option "label"'],
  // Were drawn as pins, as if their servers were down.
  [{ markers: 'icon:http://|1,2' }, 'markers', 'icon must be the URL'],
  [{ markers: 'icon:https://[::1/a.png|1,2' }, 'markers', 'icon must be the URL'],
  [{ markers: 'icon:https://example.com:99999/a.png|1,2' }, 'markers', 'icon must be the URL'],
  [{ markers: '1,2|color:red' }, 'markers', 'options before its locations'],
  [{ markers: '1,2|somewhere' }, 'markers', '"somewhere"'],
  [{ markers: Array(101).fill('1,2') }, 'markers', '100 times'],
  [{ path: '1,2' }, 'path', 'at least two'],
  [{ path: 'width:0|1,2|3,4' }, 'path', 'width'],
  [{ path: 'borderWidth:-1|1,2|3,4' }, 'path', 'borderWidth'],
  [{ path: 'weight:3|1,2|3,4' }, 'path', 'no option "weight"; there are stroke, width, border, borderWidth'],
  [{ path: 'stroke:#fff|1,2|3,4' }, 'path', 'stroke'],
  [{ path: 'enc:?' }, 'path', 'encoded polyline'],
  [{ path: 'enc:??' }, 'path', 'at least two'],
  [{ path: '{"type":"Point","coordinates":[1,2]}' }, 'path', 'LineString'],
  [{ path: '{"type":"LineString","coordinates":[[1,2],[3,91]]}' }, 'path', 'LineString'],
  [{ path: Array(2).fill(Array(5_001).fill('1,2').join('|')) }, 'path', '10000 locations'],
])('%j is refused', (query, param, rule) => {
  const read = readMapQuery({ ...size, ...camera, ...query });
  expect(read).toMatchObject({ ok: false, problem: { param, rule: expect.stringContaining(rule) } });
});

// The answer had half of a surrogate pair, which strict parsers of JSON refuse.
test('a value that is shortened for a message stays well-formed', () => {
  for (const text of ['😀'.repeat(30), `a${'😀'.repeat(30)}`]) {
    const read = readMapQuery({ ...size, ...camera, markers: text });
    expect(!read.ok && read.problem.rule).toMatch(/^has "a?(😀){19,20}…"/u);
    expect(!read.ok && read.problem.rule.isWellFormed()).toBe(true);
  }
});

describe('any query', () => {
  const odd = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'|:,.-019aencx60{}"~?@') }));
  const latitude = fc.double({ min: -90, max: 90, noNaN: true }).map((degrees) => degrees.toFixed(6));
  const longitude = fc.double({ min: -180, max: 180, noNaN: true }).map((degrees) => degrees.toFixed(6));
  const location = fc.tuple(latitude, longitude).map(String);
  const locations = fc.array(location, { minLength: 1, maxLength: 3 });
  const options = fc.subarray(['color:red', 'size:small', 'stroke:0x00f', 'stroke:blue', 'width:4', 'borderWidth:0']);
  const overlay = fc.tuple(options, locations).map((parts) => parts.flat().join('|'));
  const plausible: Readonly<Record<string, fc.Arbitrary<string>>> = {
    markers: overlay,
    path: fc.oneof(
      overlay,
      fc.constantFrom('enc:_p~iF~ps|U_ulLnnqC', '{"type":"LineString","coordinates":[[1,2],[3,4]]}'),
    ),
    center: location,
    bbox: fc.tuple(location, location).map(String),
  };

  it('is a map that can be drawn, or a problem of its parameter; never an exception', () => {
    const given = fc
      .constantFrom(...Object.keys(plausible))
      .chain((param) => fc.tuple(fc.constant(param), fc.oneof(plausible[param]!, odd)));
    const accepted: Record<string, number> = { markers: 0, path: 0, center: 0, bbox: 0 };
    fc.assert(
      fc.property(given, ([param, value]) => {
        const read = readMapQuery({ ...size, ...camera, [param]: value });
        if (!read.ok) {
          expect(read.problem.param).toBe(param);
          return;
        }
        accepted[param]! += 1;
        const { camera: view, markers, paths } = read.value.request;
        const positions = [...markers, ...paths].flatMap(({ locations }) => locations);
        for (const [longitude, latitude] of [...positions, ...(view.center ? [view.center] : [])]) {
          expect(Math.abs(longitude)).toBeLessThanOrEqual(180);
          expect(Math.abs(latitude)).toBeLessThanOrEqual(90);
        }
        if (view.bbox) expect(view.bbox[1]).toBeLessThan(view.bbox[3]);
      }),
      { numRuns: propertyRuns(2_000) },
    );
    for (const count of Object.values(accepted)) expect(count).toBeGreaterThan(5);
  });
});
