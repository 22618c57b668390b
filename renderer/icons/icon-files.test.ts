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
const servers: Server[] = [];
let origin: string;
/** Another server, so that its waiting requests take no connections of the first. */
let slowOrigin: string;
let client: OutboundClient;
let files: IconFiles;

async function listen(): Promise<string> {
  const server = createServer((request, response) => {
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
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  origin = await listen();
  slowOrigin = await listen();
  const networks = parseNetworks('networks', ['127.0.0.1']);
  if (!networks.ok) throw new Error(networks.problem.rule);
  client = createOutboundClient({ ...iconBounds, allowedNetworks: networks.value, userAgent: 'test' });
});
afterAll(async () => {
  await client.close();
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
});
beforeEach(() => {
  asked.length = 0;
  files = new IconFiles(client);
});

/** A path that redirects to the given place. */
const to = (place: string): string => `/to/${encodeURIComponent(place)}`;

async function get(path: string, owner = 'a'): Promise<Uint8Array | undefined> {
  const url = `${origin}${path}`;
  return (await files.get(owner, [url])).get(url);
}

/** Lets a project ask for icons that are answered by `finish` only. */
function hold(owner: string, count: number) {
  const urls = Array.from({ length: count }, (_, i) => `${slowOrigin}/held/${owner}/${i}`);
  const icons = files.get(owner, urls);
  let isFinished = false;
  void icons.then(() => {
    isFinished = true;
  });
  return {
    urls,
    async finish(): Promise<Map<string, Uint8Array>> {
      while (!isFinished) {
        await nextTurn();
        for (const answer of held.splice(0)) answer();
      }
      return icons;
    },
  };
}

describe('an icon by URL', () => {
  test('is fetched once for concurrent requests, and cached', async () => {
    const [one, other] = await Promise.all([get('/pin'), get('/pin')]);
    expect([one, other, await get('/pin')]).toEqual([png, png, png]);
    expect(asked).toEqual(['/pin']);
  });

  test('is cached when it fails, without affecting others', async () => {
    const [good, bad] = [`${origin}/pin`, `${origin}/none`];
    expect([...(await files.get('a', [bad, good])).keys()]).toEqual([good]);
    expect([...(await files.get('a', [bad, good])).keys()]).toEqual([good]);
    expect(asked).toHaveLength(2);
  });

  test('may be as large as the bound', async () => {
    expect((await get('/largest'))?.length).toBe(maxIconBytes);
    expect(await get('/too-large')).toBeUndefined();
    expect(await get('/empty')).toBeUndefined();
  });

  test('is missing beyond the share of its project, and requested again later', async () => {
    const share = maxPendingIcons / 2;
    const { finish } = hold('a', share);
    expect(await get('/pin')).toBeUndefined();
    expect((await finish()).size).toBe(share);
    expect(await get('/pin')).toEqual(png);
  });

  test('of any number of projects is missing beyond the limit of concurrent downloads', async () => {
    const holding = Array.from({ length: maxPendingIcons + 1 }, (_, i) => hold(`project ${i}`, maxPendingIcons));
    const found = await Promise.all(holding.map(({ finish }) => finish()));
    expect(asked).toHaveLength(maxPendingIcons);
    expect(found.reduce((sum, { size }) => sum + size, 0)).toBe(maxPendingIcons);
    expect(await get('/pin')).toEqual(png);
  });

  // The limit counted the downloads of all projects together.
  test('regression: a project with many slow icons leaves downloads to other projects', async () => {
    const slow = hold('a', maxPendingIcons);
    expect(await get('/pin', 'b')).toEqual(png);
    const slowToo = hold('b', maxPendingIcons);
    expect(await get('/pin/2', 'c')).toEqual(png);
    await Promise.all([slow.finish(), slowToo.finish()]);
  });

  test('that another project waits for takes no share', async () => {
    const { urls, finish } = hold('a', maxPendingIcons / 2);
    const same = files.get('b', urls);
    expect(await get('/pin', 'b')).toEqual(png);
    const found = await finish();
    expect(await same).toEqual(found);
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
    expect((await files.get('a', [place])).size).toBe(0);
  });
});
