import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { changeMany } from './bulk.js';
import { setCallScope } from './call.js';

const testing = { project: 'shops', environment: 'test' } as const;
const live = { project: 'shops', environment: 'live' } as const;
const pages = 4;

/** What each request acted on. */
const asked: string[] = [];
let onBulk = (): void => {};
/** The answer to each request. */
let statusOf = (_: IncomingMessage): number => 200;

/** Answers pages of one geofence each, and the changes of them. */
function answer({ method, url = '', headers }: IncomingMessage): object {
  asked.push(`${method} ${headers['x-fenceline-project']} ${headers['x-fenceline-environment']}`);
  if (method === 'POST') {
    onBulk();
    return { meta: { code: 200 }, changed: 1, unchanged: 0, missing: 0 };
  }
  const page = Number(new URL(url, 'http://localhost').searchParams.get('cursor') ?? 1);
  return { meta: { code: 200, hasMore: page < pages, cursor: `${page + 1}` }, geofences: [{ _id: `${page}` }] };
}

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.statusCode = statusOf(request);
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(answer(request)));
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { fetch } = globalThis;
  // A page's fetch knows the server of the page.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  vi.stubGlobal('fetch', (path: string, options: RequestInit) => fetch(origin + path, options));
});
afterAll(() => {
  vi.unstubAllGlobals();
  server.close();
});

const deleteOld = (signal: AbortSignal) =>
  changeMany('geofences', 'delete', { conditions: { tag: 'old' } }, { scope: testing, signal, onProgress: () => {} });

// A deletion of all that match was started in Test and went on in Live when that was chosen meanwhile: each request
// read the chosen environment anew, so Live lost 1,500 geofences that nobody had selected.
test('a change of many acts on the environment in which it was started, whatever is chosen meanwhile', async () => {
  asked.length = 0;
  setCallScope(testing);
  onBulk = () => setCallScope(live);
  const result = await deleteOld(new AbortController().signal);
  expect(result).toEqual({ changed: pages, unchanged: 0, missing: 0, isStopped: false });
  expect(new Set(asked)).toEqual(new Set(['GET shops test', 'POST shops test']));
});

test('a change of many that is stopped says what it had changed', async () => {
  asked.length = 0;
  const stop = new AbortController();
  onBulk = () => stop.abort();
  expect(await deleteOld(stop.signal)).toEqual({ changed: 1, unchanged: 0, missing: 0, isStopped: true });
  expect(asked).toEqual(['GET shops test', 'POST shops test']);
});

// The page showed only the refusal, so nobody knew that a part of the records was gone.
test('a change of many that is refused says what it had changed, and why it ended', async () => {
  let parts = 0;
  onBulk = () => {};
  statusOf = ({ method }) => (method === 'POST' && ++parts === 3 ? 429 : 200);
  const result = await deleteOld(new AbortController().signal);
  expect(result).toMatchObject({ changed: 2, isStopped: true, refusal: { status: 429 } });
});
