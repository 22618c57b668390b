/** Static maps as a page requests them: the effect of each parameter, refusals, and headers for caches. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../testing/until.js';
import { type Json, ok } from '../support/client.js';
import { askMap, colorAt, countOf, type MapQuery, type Picture, pictureOf, startMapServer } from '../support/maps.js';
import { TestServer } from '../support/server.js';

let server: TestServer;
let icons: Server;
let iconOrigin: string;
/** Maps that may wait or be drawn: four of a megapixel. */
const maxPixelsInFlight = 4_000_000;

const magenta = { r: 255, g: 0, b: 255 };
const squareIcon = (sizePx: number) =>
  sharp({ create: { width: sizePx, height: sizePx, channels: 3, background: magenta } }).png();
const svgIcon =
  '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="30"><rect width="20" height="30" fill="#f0f"/></svg>';

beforeAll(async () => {
  const files: Record<string, Buffer> = {
    '/40.png': await squareIcon(40).toBuffer(),
    '/200.png': await squareIcon(200).toBuffer(),
    '/20x30.svg': Buffer.from(svgIcon),
    '/text.png': Buffer.from('not an image'),
  };
  icons = createServer((request, response) => {
    const file = files[request.url ?? ''];
    response.writeHead(file ? 200 : 404).end(file);
  });
  await new Promise<void>((resolve) => icons.listen(0, '127.0.0.1', resolve));
  iconOrigin = `http://127.0.0.1:${(icons.address() as AddressInfo).port}`;
  server = await startMapServer({
    FENCELINE_MAPS_ALLOWED_NETWORKS: '127.0.0.1',
    FENCELINE_MAPS_MAX_PIXELS_IN_FLIGHT: String(maxPixelsInFlight),
  });
});
afterAll(async () => {
  icons?.close();
  await server?.dispose();
});

const ask = (query: MapQuery, headers: Record<string, string> = {}) => askMap(server, query, { headers });

async function picture(query: MapQuery, headers: Record<string, string> = {}): Promise<Picture> {
  const answer = await ask(query, headers);
  const drawn = await pictureOf(answer);
  expect(answer.headers.get('content-type')).toBe(`image/${drawn.format}`);
  return drawn;
}

const size = { width: '300', height: '200' };
const sahara = { ...size, center: '22,5', zoom: '4' };
const ocean = { ...size, center: '0,-140', zoom: '4' };

describe('the picture', () => {
  it('shows the centre at the zoom', async () => {
    const [land, water] = [await picture(sahara), await picture(ocean)];
    expect(colorAt(land, 150, 60)).not.toBe(colorAt(water, 150, 60));
    const near = await picture({ ...sahara, zoom: '4.5' });
    expect(near.pixels.equals(land.pixels)).toBe(false);
  });

  it.each([
    ['1', 300, 200],
    ['1.5', 450, 300],
    ['3', 900, 600],
  ])('at scale %s has its size times the scale', async (scale, width, height) => {
    expect(await picture({ ...sahara, scale })).toMatchObject({ width, height });
  });

  it.each([
    [{ format: 'png' }, '*/*', 'png'],
    [{ format: 'webp' }, '*/*', 'webp'],
    [{ format: 'jpg' }, '*/*', 'jpeg'],
    [{}, 'image/avif,image/webp,*/*', 'webp'],
    [{}, 'image/png,image/webp', 'png'],
  ])('%j with Accept %s is in its format', async (query, accept, format) => {
    expect(await picture({ ...sahara, ...query }, { accept })).toMatchObject({ format, width: 300, height: 200 });
  });

  it('fits a bbox, also across the antimeridian', async () => {
    const fiji = await picture({ ...size, bbox: '-20,176,-15,-178' });
    const around = await picture({ ...size, center: '-17.5,179', zoom: '5' });
    expect(colorAt(fiji, 2, 2)).toBe(colorAt(around, 2, 2));
    const west = await picture({ ...size, bbox: '20,0,24,10' });
    expect(colorAt(west, 150, 60)).toBe(colorAt(await picture(sahara), 150, 60));
  });

  it('has three styles', async () => {
    const styles = ['svc-default-v1', 'svc-light-v1', 'svc-dark-v1'];
    const colors = await Promise.all(styles.map(async (style) => colorAt(await picture({ ...ocean, style }), 5, 5)));
    expect(new Set(colors).size).toBe(3);
    expect((await picture({ ...ocean, style: 'svc-default-v1' })).pixels.equals((await picture(ocean)).pixels)).toBe(
      true,
    );
  });

  it('has labels in the requested language', async () => {
    const europe = { ...size, center: '47,10', zoom: '3' };
    const [english, german, native, other] = await Promise.all(
      ['en', 'de', 'native', 'en-US'].map((language) => picture({ ...europe, language })),
    );
    expect(german?.pixels.equals(english!.pixels)).toBe(false);
    expect(native?.pixels.equals(english!.pixels)).toBe(false);
    expect(other?.pixels.equals(english!.pixels)).toBe(true);
  });
});

describe('markers', () => {
  it('are visible, each group in its colour', async () => {
    const map = await picture({ ...size, markers: ['color:0xFF0000|10,10|-20,40', 'color:lime|0,0'] });
    const [red, lime] = [countOf(map, 'ff0000'), countOf(map, '00ff00')];
    expect(lime).toBeGreaterThan(200);
    expect(red / lime).toBeCloseTo(2, 0);
    expect(countOf(await picture({ ...size, markers: '10,10' }), '000257')).toBeGreaterThan(200);
  });

  it('may be small', async () => {
    const [normal, small] = [
      await picture({ ...ocean, markers: '0,-140' }),
      await picture({ ...ocean, markers: 'size:small|0,-140' }),
    ];
    expect(countOf(small, '000257')).toBeGreaterThan(50);
    expect(countOf(small, '000257')).toBeLessThan(countOf(normal, '000257') / 2);
  });

  it.each([
    ['40.png', '1', 40 * 40],
    ['40.png', '2', 80 * 80],
    ['200.png', '1', 64 * 64],
    ['20x30.svg', '3', 60 * 90],
  ])('may be an icon: %s at scale %s', async (name, scale, pixels) => {
    const map = await picture({ ...ocean, scale, markers: `icon:${iconOrigin}/${name}|0,-140` });
    expect(countOf(map, 'ff00ff') / pixels).toBeCloseTo(1, 1);
  });

  it('without their icon are pins, and the map is cached briefly', async () => {
    const query = { ...ocean, markers: `icon:${iconOrigin}/none.png|0,-140` };
    expect((await ask(query)).headers.get('cache-control')).toBe('public, max-age=60');
    expect((await picture(query)).pixels.equals((await picture({ ...ocean, markers: '0,-140' })).pixels)).toBe(true);
  });

  it('with an invalid icon are refused, with its name and the rule', async () => {
    const answer = await ask({ ...ocean, markers: `icon:${iconOrigin}/text.png|0,-140` });
    expect(answer.status).toBe(400);
    const { meta }: Json = await answer.json();
    expect(meta).toMatchObject({
      param: 'markers',
      message: expect.stringContaining(`the icon ${iconOrigin}/text.png must be`),
    });
  });
});

describe('a path', () => {
  it('is visible in its colours and widths', async () => {
    const path = 'stroke:0xFF0000|width:6|border:0x00FF00|borderWidth:4|-10,-150|-10,-130';
    const map = await picture({ ...size, path });
    expect(countOf(map, 'ff0000')).toBeGreaterThan(100 * 5);
    expect(countOf(map, '00ff00')).toBeGreaterThan(100 * 7);
    const without = await picture({ ...size, path: path.replace('borderWidth:4', 'borderWidth:0') });
    expect(countOf(without, '00ff00')).toBe(0);
  });

  it('is equal as locations, encoded polyline and LineString', async () => {
    const coordinates = [
      [-120.2, 38.5],
      [-120.95, 40.7],
      [-126.453, 43.252],
    ];
    const locations = coordinates.map(([longitude, latitude]) => `${latitude},${longitude}`).join('|');
    const paths = [locations, 'enc:_p~iF~ps|U_ulLnnqC_mqNvxq`@', JSON.stringify({ type: 'LineString', coordinates })];
    const [first, ...others] = await Promise.all(paths.map((path) => picture({ ...size, path })));
    for (const other of others) expect(other.pixels.equals(first!.pixels)).toBe(true);
  });
});

describe('geofences of a tag', () => {
  const asOwner = () => ({ authorization: server.keys.test_secret });

  it('are drawn for their owner', async () => {
    const fence = { type: 'circle', coordinates: [-140, 0], radius: 10_000 };
    await server.as('test_secret').putGeofence('sea', fence, 'drawn');
    const query = { ...ocean, zoom: '11', geofences: 'drawn' };
    const [plain, fenced] = [await picture({ ...ocean, zoom: '11' }), await picture(query, asOwner())];
    expect(colorAt(fenced, 150, 100)).not.toBe(colorAt(plain, 150, 100));
    expect((await ask(query, asOwner())).headers.get('cache-control')).toBe('private, no-cache');
    expect((await ask(query)).status).toBe(403);
    const fitted = await picture({ ...size, geofences: 'drawn' }, asOwner());
    expect(colorAt(fitted, 150, 100)).toBe(colorAt(fenced, 150, 100));
  });

  it('must exist', async () => {
    const answer = await ask({ ...size, geofences: 'nothing' }, asOwner());
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ meta: { param: 'geofences' } });
  });
});

describe('a wrong value', () => {
  it.each<[string, MapQuery]>([
    ['width', { width: '99' }],
    ['width', { width: 'wide' }],
    ['width', { width: '' }],
    ['height', { height: '2049' }],
    ['scale', { scale: '4' }],
    ['center', { center: '91,0' }],
    ['center', { center: '' }],
    ['zoom', { zoom: '0' }],
    ['zoom', { zoom: '24' }],
    ['style', { style: 'streets' }],
    ['language', { language: 'english' }],
    ['bbox', { bbox: '3,2,1,4' }],
    ['format', { format: 'gif' }],
    ['markers', { markers: 'color:redish|1,2' }],
    ['markers', { markers: 'size:huge|1,2' }],
    ['markers', { markers: 'icon:mine|1,2' }],
    ['markers', { markers: ['1,2', '1,200'] }],
    ['path', { path: '1,2' }],
    ['path', { path: '1,2|3,4|width:3' }],
    ['path', { path: 'enc:?|' }],
  ])('of %s is named: %j', async (param, query) => {
    const answer = await ask({ ...sahara, ...query });
    const body: Json = await answer.json();
    expect(answer.status).toBe(400);
    expect(body.meta).toMatchObject({
      code: 400,
      type: 'invalid_parameter',
      param,
      message: expect.stringMatching(`^${param}: \\w`),
    });
  });
});

describe('keys', () => {
  const url = (more = '') => `${server.address}/maps/static?${new URLSearchParams(sahara)}${more}`;

  it('are accepted in the header; publishable ones of both environments also in the query', async () => {
    const keys = Object.entries(server.keys);
    const inHeader = keys.map(([, key]) => fetch(url(), { headers: { authorization: key } }));
    expect((await Promise.all(inHeader)).map(({ status }) => status)).toEqual(Array(4).fill(200));
    for (const [name, key] of keys) {
      const answer = await fetch(url(`&publishableKey=${key}`));
      expect([name, answer.status]).toEqual([name, name.endsWith('publishable') ? 200 : 403]);
      if (answer.status === 403) expect(await answer.json()).toMatchObject({ meta: { param: 'publishableKey' } });
    }
  });

  it.each(['', '&publishableKey=', '&publishableKey=prj_test_pk_0000', '&publishableKey=a&publishableKey=b'])(
    'are asked for: %j',
    async (more) => {
      const answer = await fetch(url(more));
      expect(answer.status).toBe(401);
      expect(await answer.json()).toMatchObject({ meta: { code: 401, type: 'unauthorized' } });
    },
  );
});

describe('caching', () => {
  it('uses a hash of the image', async () => {
    const first = await ask(sahara);
    const etag = first.headers.get('etag') ?? '';
    expect(Object.fromEntries(first.headers)).toMatchObject({
      'cache-control': 'public, max-age=86400',
      vary: 'Accept',
    });
    expect((await ask(ocean)).headers.get('etag')).not.toBe(etag);
    const again = await ask(sahara, { 'if-none-match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });
});

it('maps beyond the bound of pixels are refused with Retry-After, and drawn later', async () => {
  const large = (zoom: number) => ({ width: '1000', height: '1000', center: '47,10', zoom: String(zoom) });
  const answers = await Promise.all(Array.from({ length: 24 }, (_, i) => ask(large(3 + i / 100))));
  const refused = answers.filter(({ status }) => status === 503);
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(4);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.every(({ headers }) => Number(headers.get('retry-after')) > 0)).toBe(true);
  expect((await ask(large(3.5))).status).toBe(200);
});

it('the log names the setting of an archive that is there and is none', async () => {
  const archive = fileURLToPath(import.meta.url);
  const broken = await TestServer.start({ FENCELINE_MAPS_ARCHIVE: archive, FENCELINE_LOG_LEVEL: 'error' });
  try {
    await until(() => broken.process.log().length > 0);
    expect(broken.process.log().map((line) => JSON.parse(line))).toMatchObject([
      { reason: expect.stringMatching(`^maps.archive: ${archive} can't be read: .*: maps fail$`) },
    ]);
  } finally {
    await broken.dispose();
  }
});

it('without a readable archive maps are unavailable, and everything else works', async () => {
  const broken = await TestServer.start({
    FENCELINE_MAPS_ARCHIVE: '/nowhere/world.pmtiles',
    FENCELINE_LOG_LEVEL: 'error',
  });
  try {
    // Before anybody asks for a map.
    const line = "maps.archive: /nowhere/world.pmtiles can't be read: there is no such file or folder: maps fail";
    expect(broken.process.log().join('\n')).toContain(line);
    const answer = await broken.as('test_publishable').get(`/maps/static?${new URLSearchParams(sahara)}`);
    expect(answer).toMatchObject({ status: 503, body: { meta: { type: 'unavailable' } } });
    await until(() => broken.process.log().some((line) => line.includes('/nowhere/world.pmtiles')));
    ok(await broken.as('test_secret').get('/v1/geofences'));
    expect(await broken.stop()).toMatchObject({ code: 0 });
  } finally {
    await broken.dispose();
  }
});
