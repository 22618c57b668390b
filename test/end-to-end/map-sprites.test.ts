/** Sprites of uploaded styles, from upload to picture: icons, patterns, and what is drawn without them. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { plain, spriteOf } from '../../renderer/testing/sprites.js';
import { type Json, ok } from '../support/client.js';
import { TestServer } from '../support/server.js';

const asked: string[] = [];
let isDown = false;
let sprites: Server;
let origin: string;
let server: TestServer;

const single = spriteOf({ sea: plain('#0000ff', 8), pin: plain('#ff0000', 12) });
const double = spriteOf({ sea: plain('#00ffff', 8), pin: plain('#ff00ff', 12) }, 2);
const files: Readonly<Record<string, Uint8Array>> = {
  '/s.json': single.index,
  '/s.png': single.image,
  '/s@2x.json': double.index,
  '/s@2x.png': double.image,
};

beforeAll(async () => {
  sprites = createServer((request, response) => {
    const path = (request.url ?? '').replace(/^\/\d+/, '');
    asked.push(path);
    const file = isDown ? undefined : files[path];
    response.writeHead(file ? 200 : 404).end(file);
  });
  await new Promise<void>((resolve) => sprites.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(sprites.address() as AddressInfo).port}`;
  server = await TestServer.start({ FENCELINE_MAPS_ALLOWED_NETWORKS: '127.0.0.1', FENCELINE_MAPS_TIMEOUT_MS: '60000' });
});
afterAll(async () => {
  await server?.dispose();
  await new Promise((resolve) => sprites.close(resolve));
});
beforeEach(() => {
  isDown = false;
  asked.length = 0;
});

const singleFiles = ['/s.json', '/s.png'];
const notHad = ['sprite: 1 could not be fetched just now'];

let uploads = 0;
/** Paris in the middle of a patterned ground, from a sprite that no other test asks for. */
const styleOn = (host = origin) => {
  uploads += 1;
  return {
    version: 8,
    sprite: `${host}/${uploads}/s`,
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

const lacking = ['fill-pattern: The sprite has no image "none"'];

async function draw(style: object, { scale = 1, told = lacking }: { scale?: number; told?: string[] } = {}) {
  const uploaded: Json = ok(await server.as('test_secret').post('/v1/map-styles', style));
  expect(uploaded.unsupported.map(({ property, message }: Json) => `${property}: ${message.split(';')[0]}`)).toEqual(told);
  const query = { style: uploaded.mapStyle._id, width: '200', height: '100', center: '48.86,2.35', zoom: '5', scale: `${scale}` };
  const answer = await fetch(
    `${server.address}/maps/static?${new URLSearchParams({ publishableKey: server.keys.test_publishable, ...query })}`,
  );
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${await answer.text()}`);
  expect(answer.headers.get('cache-control')).toBe('public, no-cache');
  const pixels = await sharp(await answer.arrayBuffer())
    .removeAlpha()
    .raw()
    .toBuffer();
  const colors = new Map<string, number>();
  for (let i = 0; i < pixels.length; i += 3) {
    const color = pixels.subarray(i, i + 3).toString('hex');
    colors.set(color, (colors.get(color) ?? 0) + 1);
  }
  return colors;
}

it('a map has the icons and patterns of its style, of the density that its scale needs', async () => {
  const once = await draw(styleOn());
  expect(once.get('ff0000')).toBe(12 * 12);
  expect(once.get('0000ff')! / (200 * 100)).toBeGreaterThan(0.8);
  expect([...asked].sort()).toEqual(singleFiles);
  const twice = await draw(styleOn(), { scale: 2 });
  expect(twice.get('ff00ff')).toBe(24 * 24);
  expect(twice.get('00ffff')! / (400 * 200)).toBeGreaterThan(0.8);
  // At the upload a sprite is looked at in single density.
  expect([...asked].sort()).toEqual([...singleFiles, ...singleFiles, '/s@2x.json', '/s@2x.png'].sort());
});

it('a sprite is fetched once for many maps', async () => {
  const style = styleOn();
  await draw(style);
  await draw({ ...style, name: 'Another' });
  expect(asked).toHaveLength(2);
});

it('without its sprite a map is drawn without icons and patterns', async () => {
  isDown = true;
  const colors = await draw(styleOn(), { told: notHad });
  expect(colors.get('ffffff')! / (200 * 100)).toBeGreaterThan(0.8);
  expect([colors.has('ff0000'), colors.has('0000ff')]).toEqual([false, false]);
});

it('addresses that are reserved are refused, unless they are allowed', async () => {
  const { port } = new URL(origin);
  const colors = await draw(styleOn(`http://[::1]:${port}`), { told: notHad });
  expect(colors.has('ff0000')).toBe(false);
  expect(asked).toEqual([]);
});
