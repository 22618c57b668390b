import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseNetworks } from '../../outbound/addresses.js';
import { createOutboundClient, type OutboundClient } from '../../outbound/client.js';
import { plain, spriteOf } from '../testing/sprites.js';
import { maxSpriteBytes, SpriteFiles, spriteBounds } from './sprite-files.js';

const { index, image } = spriteOf({ red: plain('#ff0000') });
const asked: string[] = [];
let server: Server;
let origin: string;
const clients: OutboundClient[] = [];
let files: SpriteFiles;

/** The sprites that are there, each whole but for `half`, and a server's page for everything below `pages`. */
const contents: Readonly<Record<string, Uint8Array>> = {
  '/both.json': index,
  '/both.png': image,
  '/both@2x.json': index,
  '/both@2x.png': image,
  '/single.json': index,
  '/single.png': image,
  '/double@2x.json': index,
  '/double@2x.png': image,
  '/half@2x.json': index,
  '/half.json': index,
  '/half.png': image,
  '/large.json': index,
  '/large.png': Buffer.concat([image, Buffer.alloc(maxSpriteBytes)]),
};

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const content = contents[path];
    if (content) response.end(content);
    else if (path.startsWith('/moved')) response.writeHead(302, { location: path.replace('moved', 'both') }).end();
    else if (path.startsWith('/led-astray'))
      response.writeHead(302, { location: 'http://169.254.169.254/both.json' }).end();
    else if (path.startsWith('/pages')) response.end('<!doctype html>');
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await new Promise((resolve) => server.close(resolve));
});

function open(...allowed: string[]): SpriteFiles {
  const networks = parseNetworks('networks', allowed);
  if (!networks.ok) throw new Error(networks.problem.rule);
  const client = createOutboundClient({ ...spriteBounds, allowedNetworks: networks.value, userAgent: 'test' });
  clients.push(client);
  return new SpriteFiles(client);
}

beforeEach(() => {
  asked.length = 0;
  files = open('127.0.0.1');
});

const styleWith = (sprite: unknown): Uint8Array =>
  Buffer.from(JSON.stringify({ version: 8, sources: {}, layers: [], sprite }));
const get = (name: string, scale: number) => files.get('a', styleWith(`${origin}/${name}`), scale);

test.each([
  ['both', 1, ['/both.json', '/both.png']],
  ['both', 2, ['/both@2x.json', '/both@2x.png']],
  ['single', 2, ['/single.json', '/single.png', '/single@2x.json', '/single@2x.png']],
  ['double', 1, ['/double.json', '/double.png', '/double@2x.json', '/double@2x.png']],
  ['half', 1.5, ['/half.json', '/half.png', '/half@2x.json', '/half@2x.png']],
] as const)('of sprite %s, at a scale of %d, what is there', async (name, scale, paths) => {
  expect(await get(name, scale)).toEqual({ files: [{ id: '', index, image }], missing: 0 });
  expect([...asked].sort()).toEqual(paths);
  await get(name, scale);
  expect(asked).toHaveLength(paths.length);
});

test.each(['none', 'pages', 'large', 'led-astray'])(
  'a sprite that is not available is counted, and remembered: %s',
  async (name) => {
    expect(await get(name, 1)).toEqual({ files: [], missing: 1 });
    const before = asked.length;
    expect(await get(name, 1)).toEqual({ files: [], missing: 1 });
    expect(asked).toHaveLength(before);
  },
);

test('redirects are followed', async () => {
  expect((await get('moved', 1)).missing).toBe(0);
});

test('several sprites have their ids, without those that are missing', async () => {
  const sprite = ['default:both', 'roads:single', 'lost:none'].map((each) => {
    const [id, name] = each.split(':');
    return { id, url: `${origin}/${name}` };
  });
  const sprites = await files.get('a', styleWith(sprite), 1);
  expect([sprites.files.map(({ id }) => id), sprites.missing]).toEqual([['', 'roads'], 1]);
});

test('private addresses are refused unless they are allowed', async () => {
  expect(await open().get('a', styleWith(`${origin}/both`), 1)).toEqual({ files: [], missing: 1 });
  expect(asked).toEqual([]);
});

test('styles without sprites and built-in styles fetch nothing', async () => {
  for (const style of [null, styleWith(undefined), styleWith('mapbox://sprites/a')]) {
    expect(await files.get('a', style, 1)).toEqual({ files: [], missing: 0 });
  }
  expect(asked).toEqual([]);
});
