/** Sprites of uploaded styles, from upload to picture: icons, patterns, and what is drawn without them. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { plain, spriteOf } from '../../renderer/testing/sprites.js';
import { type Json, ok } from '../support/client.js';
import { askMap, countOf, type Picture, pictureOf } from '../support/maps.js';
import { SharedServer } from '../support/shared-server.js';

const asked: string[] = [];
let isDown = false;
let sprites: Server;
let origin: string;
let server: SharedServer;

const single = spriteOf({ sea: plain('#0000ff', 8), pin: plain('#ff0000', 12) });
const double = spriteOf({ sea: plain('#00ffff', 8), pin: plain('#ff00ff', 12) }, 2);
const files: Readonly<Record<string, Uint8Array>> = {
  '.json': single.index,
  '.png': single.image,
  '@2x.json': double.index,
  '@2x.png': double.image,
};

beforeAll(async () => {
  sprites = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const file = isDown ? undefined : files[path.replace(/^\/\d+/, '')];
    response.writeHead(file ? 200 : 404).end(file);
  });
  await new Promise<void>((resolve) => sprites.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(sprites.address() as AddressInfo).port}`;
  server = await SharedServer.newProject();
});
afterAll(() => new Promise((resolve) => sprites.close(resolve)));
beforeEach(() => {
  isDown = false;
});

const singleFiles = ['.json', '.png'];
const notHad = ['sprite: 1 could not be fetched'];

let uploads = 0;
/** Paris in the middle of a patterned ground, from a sprite that no other test asks for. */
const styleOn = (host = origin) => {
  uploads += 1;
  return {
    version: 8,
    sprite: `${host}/${uploads}`,
    sources: { tiles: { type: 'vector' } },
    layers: [
      { id: 'sea', type: 'background', paint: { 'background-pattern': 'sea' } },
      { id: 'lost', type: 'fill', source: 'tiles', 'source-layer': 'land', paint: { 'fill-pattern': 'none' } },
      {
        id: 'capitals',
        type: 'symbol',
        source: 'tiles',
        'source-layer': 'places',
        filter: ['==', ['get', 'name'], 'Paris'],
        layout: { 'icon-image': ['coalesce', ['image', 'none'], ['image', 'pin']] },
      },
    ],
  };
};

/** Returns the requested files of this style's sprite. Requests of an abandoned test may still arrive. */
function askedFor({ sprite }: { sprite: string }): string[] {
  const { pathname } = new URL(sprite);
  return asked.flatMap((path) => (/^\/\d+/.exec(path)?.[0] === pathname ? path.slice(pathname.length) : [])).sort();
}

const lacking = ['fill-pattern: The sprite has no image "none"'];

async function draw(
  style: object,
  { scale = 1, told = lacking }: { scale?: number; told?: string[] } = {},
): Promise<Picture> {
  const uploaded: Json = ok(await server.as('test_secret').post('/v1/map-styles', style));
  expect(uploaded.unsupported.map(({ property, message }: Json) => `${property}: ${message.split(';')[0]}`)).toEqual(
    told,
  );
  const view = { width: '200', height: '100', center: '48.86,2.35', zoom: '5', scale: `${scale}` };
  const answer = await askMap(server, { style: uploaded.mapStyle._id, ...view });
  expect(answer.headers.get('cache-control')).toBe('public, no-cache');
  return pictureOf(answer);
}

it('a map has the icons and patterns of its style in the density of its scale', async () => {
  const [small, large] = [styleOn(), styleOn()];
  const once = await draw(small);
  expect(countOf(once, 'ff0000')).toBe(12 * 12);
  expect(countOf(once, '0000ff') / (200 * 100)).toBeGreaterThan(0.8);
  expect(askedFor(small)).toEqual(singleFiles);
  const twice = await draw(large, { scale: 2 });
  expect(countOf(twice, 'ff00ff')).toBe(24 * 24);
  expect(countOf(twice, '00ffff') / (400 * 200)).toBeGreaterThan(0.8);
  // At the upload, the sprite is read in single density.
  expect(askedFor(large)).toEqual([...singleFiles, '@2x.json', '@2x.png']);
});

it('a sprite is fetched once for many maps', async () => {
  const style = styleOn();
  await draw(style);
  await draw({ ...style, name: 'Another' });
  expect(askedFor(style)).toEqual(singleFiles);
});

it('without its sprite a map has no icons and patterns', async () => {
  isDown = true;
  const map = await draw(styleOn(), { told: notHad });
  expect(countOf(map, 'ffffff') / (200 * 100)).toBeGreaterThan(0.8);
  expect(['ff0000', '0000ff'].map((color) => countOf(map, color))).toEqual([0, 0]);
});

it('reserved addresses are refused, unless allowed', async () => {
  const { port } = new URL(origin);
  const style = styleOn(`http://[::1]:${port}`);
  const map = await draw(style, { told: notHad });
  expect(countOf(map, 'ff0000')).toBe(0);
  expect(askedFor(style)).toEqual([]);
});
