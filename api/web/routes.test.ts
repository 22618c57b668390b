/** The files of the dashboard over HTTP, from a folder like that of the build. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { createTestServer } from '../../http/testing/server.js';
import { dashboardRoutes } from './routes.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-web-'));
const script = 'console.info("dashboard");';
mkdirSync(join(folder, 'assets'));
writeFileSync(
  join(folder, 'index.html'),
  '<!doctype html><meta name="sign-up" content="off"><meta name="mail" content="sent">' +
    '<script src="/assets/index-1a2b.js"></script></head>' +
    '<div id="root"></div>',
);
writeFileSync(
  join(folder, 'manifest.json'),
  JSON.stringify({
    'index.html': { file: 'assets/index-1a2b.js' },
    'application.tsx': { file: 'assets/application-2b.js', imports: ['index.html'] },
    'pages/map.tsx': { file: 'assets/map-3c.js', imports: ['index.html', '_shared.js'], css: ['assets/map.css'] },
    '_shared.js': { file: 'assets/shared-4d.js', imports: ['pages/map.tsx'] },
  }),
);
writeFileSync(join(folder, 'assets/index-1a2b.js'), script);
writeFileSync(join(folder, 'assets/index-1a2b.js.br'), brotliCompressSync(script));
writeFileSync(join(folder, 'secret.txt'), 'not for the web');

const app = createTestServer();
await app.register(dashboardRoutes({ folder, signUp: 'on', mail: 'outbox' }));
app.get('/v1/known', { config: { authority: 'none', limit: 'none' } }, async () => ({}));
await app.ready();
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true });
});

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });

test('the page answers at / and at the paths of its views, with a policy that allows only this server', async () => {
  for (const url of ['/', '/account', '/geofences', '/geofences/0123?tab=hours', '/keys?utm_source=mail']) {
    const { statusCode, headers, body } = await get(url);
    expect([url, statusCode, headers['content-type']]).toEqual([url, 200, 'text/html; charset=utf-8']);
    expect(body).toContain('<div id="root">');
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers['cache-control']).toBe('no-cache');
  }
});

test('the page says whether people may sign up and get mails, and is not sent again while it is the same', async () => {
  const { body, headers } = await get('/');
  expect(body).toContain('name="sign-up" content="on"');
  expect(body).toContain('name="mail" content="outbox"');
  expect((await get('/', { 'if-none-match': String(headers.etag) })).statusCode).toBe(304);
});

test('the page is not sent again behind a proxy that compresses it (fault: its weak tag was unknown)', async () => {
  const { etag } = (await get('/')).headers;
  for (const tags of [`W/${etag}`, `"older", W/${etag}`])
    expect([tags, (await get('/', { 'if-none-match': tags })).statusCode]).toEqual([tags, 304]);
});

test('the page of a view names the files of the view, which are loaded beside its script', async () => {
  const links = async (url: string) => (await get(url)).body.match(/<link [^>]+>/g);
  const application = '<link rel="modulepreload" crossorigin href="/assets/application-2b.js">';
  expect(await links('/map')).toEqual([
    application,
    '<link rel="modulepreload" crossorigin href="/assets/map-3c.js">',
    '<link rel="preload" as="style" crossorigin href="/assets/map.css">',
    '<link rel="modulepreload" crossorigin href="/assets/shared-4d.js">',
  ]);
  expect(await links('/keys')).toEqual([application]);
});

test('paths of the API and unknown paths never answer the page', async () => {
  for (const url of ['/v1/nothing', '/maps/nothing', '/nothing', '/assets/nothing.js', '/keysmith']) {
    const { statusCode, headers } = await get(url);
    expect([url, statusCode]).toEqual([url, 404]);
    expect(headers['content-type']).toContain('application/json');
  }
  expect((await app.inject({ method: 'POST', url: '/geofences' })).statusCode).toBe(405);
});

test('a browser gets the page for a path beside the API, with status 404', async () => {
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  // A link that was cut within an escape showed a line of JSON.
  for (const url of ['/nothing', '/keysmith/2', '/geofence', '/beacons/%E0%A4%A', '/%E0%A4%A']) {
    const { statusCode, headers, body } = await get(url, { accept });
    expect([url, statusCode, headers['content-type']]).toEqual([url, 404, 'text/html; charset=utf-8']);
    expect(body).toContain('<div id="root">');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-radar-request-id': expect.any(String) });
    expect(headers.etag).toBeUndefined();
  }
  expect((await get('/beacons/%E0%A4%A')).json().meta).toMatchObject({ code: 400, param: 'path' });
  for (const url of ['/v1/nothing', '/v1', '/assets/nothing.js', '/openapi.json/x', '/v1/beacons/%E0%A4%A'])
    expect((await get(url, { accept })).headers['content-type']).toContain('application/json');
  const posted = await app.inject({ method: 'POST', url: '/nothing', headers: { accept } });
  expect([posted.statusCode, posted.headers['content-type']]).toEqual([404, 'application/json; charset=utf-8']);
});

test('a file may be kept without end, and is sent compressed to browsers that accept it', async () => {
  const plain = await get('/assets/index-1a2b.js');
  expect(plain.headers).toMatchObject({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': 'text/javascript; charset=utf-8',
    vary: 'Accept-Encoding',
  });
  expect([plain.body, plain.headers['content-encoding']]).toEqual([script, undefined]);
  const packed = await get('/assets/index-1a2b.js', { 'accept-encoding': 'gzip, deflate, br' });
  expect(packed.headers['content-encoding']).toBe('br');
  expect(brotliDecompressSync(packed.rawPayload).toString()).toBe(script);
  expect((await get('/assets/index-1a2b.js', { 'accept-encoding': 'br;q=0' })).body).toBe(script);
});

test('only files of the build are served', async () => {
  for (const name of ['../secret.txt', '..%2Fsecret.txt', '%2e%2e/secret.txt', 'index-1a2b.js.br', ''])
    expect([name, (await get(`/assets/${name}`)).statusCode]).toEqual([name, name === '' ? 400 : 404]);
});
