import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseNetworks } from '../../outbound/addresses.js';
import { createOutboundClient, type OutboundClient } from '../../outbound/client.js';
import { IconFiles, iconBounds, maxIconBytes, maxPendingIcons } from './icon-files.js';

const png = Buffer.from('a PNG');
const asked: string[] = [];
const held: (() => void)[] = [];
let server: Server;
let origin: string;
let client: OutboundClient;
let files: IconFiles;

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const to = /^\/to\/(.*)$/.exec(path)?.[1];
    if (to !== undefined) response.writeHead(302, { location: decodeURIComponent(to) }).end();
    else if (path.startsWith('/pin')) response.end(png);
    else if (path.startsWith('/held')) held.push(() => response.end(png));
    else if (path === '/largest') response.end(Buffer.alloc(maxIconBytes));
    else if (path === '/too-large') response.end(Buffer.alloc(maxIconBytes + 1));
    else if (path === '/empty') response.end();
    else response.writeHead(404).end('none');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const networks = parseNetworks('networks', ['127.0.0.1']);
  if (!networks.ok) throw new Error(networks.problem.rule);
  client = createOutboundClient({ ...iconBounds, allowedNetworks: networks.value, userAgent: 'test' });
});
afterAll(async () => {
  await client.close();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  asked.length = 0;
  files = new IconFiles(client);
});

/** A path that redirects to the given place. */
const to = (place: string): string => `/to/${encodeURIComponent(place)}`;

async function get(path: string): Promise<Uint8Array | undefined> {
  const url = `${origin}${path}`;
  return (await files.get([url])).get(url);
}

describe('an icon by URL', () => {
  test('is fetched once for concurrent requests, and cached', async () => {
    const [one, other] = await Promise.all([get('/pin'), get('/pin')]);
    expect([one, other, await get('/pin')]).toEqual([png, png, png]);
    expect(asked).toEqual(['/pin']);
  });

  test('is cached when it fails, without affecting others', async () => {
    const [good, bad] = [`${origin}/pin`, `${origin}/none`];
    expect([...(await files.get([bad, good])).keys()]).toEqual([good]);
    expect([...(await files.get([bad, good])).keys()]).toEqual([good]);
    expect(asked).toHaveLength(2);
  });

  test('may be as large as the bound', async () => {
    expect((await get('/largest'))?.length).toBe(maxIconBytes);
    expect(await get('/too-large')).toBeUndefined();
    expect(await get('/empty')).toBeUndefined();
  });

  test('is missing beyond the limit of concurrent downloads, and requested again later', async () => {
    const urls = Array.from({ length: maxPendingIcons }, (_, i) => `${origin}/held/${i}`);
    const waiting = files.get(urls);
    expect(await get('/pin')).toBeUndefined();
    while (asked.length < maxPendingIcons) {
      await nextTurn();
      for (const answer of held.splice(0)) answer();
    }
    expect((await waiting).size).toBe(maxPendingIcons);
    expect(await get('/pin')).toEqual(png);
  });

  test('may be redirected twice', async () => {
    expect(await get(to('/pin'))).toEqual(png);
    expect(await get(to(to(`${origin}/pin`)))).toEqual(png);
    expect(await get(to(to(to('/pin'))))).toBeUndefined();
    expect(asked.filter((path) => path === '/pin')).toHaveLength(2);
  });

  test.each([
    'http://10.0.0.1/pin',
    'http://[::1]/pin',
    'http://169.254.169.254/pin',
    'file:///etc/hostname',
    'http://',
    'gopher://x/',
  ])('is not fetched from where a redirect must not lead: %s', async (place) => {
    expect(await get(to(place))).toBeUndefined();
    expect((await files.get([place])).size).toBe(0);
  });
});
