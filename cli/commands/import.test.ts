import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { useApi } from '../../api/testing/fixtures.js';
import { createImporter } from '../../imports/importer.js';
import { importRoutes } from '../../imports/routes.js';
import { createHeldLeases } from '../../pipeline/held-lease.js';
import { progressLine } from '../progress.js';
import { followed, run } from './import.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-import-'));
afterAll(() => rmSync(folder, { recursive: true }));
const api = await useApi({
  addRoutes: (given) => async (app) => {
    const importer = createImporter({
      ...given,
      leases: createHeldLeases(given.values),
      geometrySources: {},
      bounds: { maxFileCharacters: 200 },
    });
    await app.register(importRoutes, { ...given, importer, folder: join(folder, 'uploads'), maxFileBytes: 100_000 });
  },
});
const address = await api.app.listen({ port: 0, host: '127.0.0.1' });
// Otherwise closing waits for connections that a client opened without a request.
afterAll(() => api.app.server.closeAllConnections());

/** Imports a file with so many bad rows. Returns what the command printed as errors. */
async function importBadRows(count: number): Promise<string[]> {
  const output: string[] = [];
  const spy = vi.spyOn(console, 'error').mockImplementation((text: string) => void output.push(text));
  onTestFinished(() => spy.mockRestore());
  const path = join(folder, 'shops.csv');
  const rows = Array.from({ length: count }, (_, index) => `Shop,circle,shop,${index},"[10,50]",1`);
  writeFileSync(path, ['description,type,tag,externalId,coordinates,radius', ...rows].join('\n'));
  await expect(run({ address, key: api.secret, rejected: join(folder, 'bad.csv') }, [path])).rejects.toThrow(
    `${count} rejected`,
  );
  return output;
}

test('bad rows are saved, to be corrected', async () => {
  expect((await importBadRows(1)).at(-1)).toBe(
    `the bad rows are in ${join(folder, 'bad.csv')}; correct them and import this file`,
  );
  expect(readFileSync(join(folder, 'bad.csv'), 'utf8').trim().split('\n')).toHaveLength(2);
});

// The command offered the file for correction, without a word of the later rows.
test('regression: a file with only the first bad rows is named as such', async () => {
  expect((await importBadRows(9)).at(-1)).toBe(
    `only the first bad rows are in ${join(folder, 'bad.csv')}, because there are many; ` +
      'correct shops.csv itself and import it again',
  );
  expect(readFileSync(join(folder, 'bad.csv'), 'utf8').trim().split('\n').length).toBeLessThan(10);
});

const started = { _id: 'abc', status: 'running' } as Parameters<typeof followed>[1];

/** Follows an import on a server that answers so, with patience for two losses. */
async function following(answer: RequestListener) {
  const server = createServer((request, response) => {
    response.setHeader('x-radar-request-id', '0');
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const access = { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: 'key' };
  const { signal } = new AbortController();
  const patience = { maxLosses: 2, retryMs: 1 };
  return { access, ending: followed(access, started, progressLine(process.stderr), signal, patience) };
}

// The command said that nothing answers, and not what had become of the rows.
test.each<[string, RequestListener, RegExp]>([
  ['breaks all connections', (_, response) => void response.destroy(), /^nothing answers at /],
  ['ends all streams', (_, response) => void response.end(), /^the server ended the stream of its progress; /],
])('regression: when the server %s, the command names the import and says what to do', async (_, answer, reason) => {
  const { access, ending } = await following(answer);
  await expect(ending).rejects.toThrow(reason);
  await expect(ending).rejects.toThrow(`GET ${access.address}/v1/imports/abc shows what became of the import`);
});

// A proxy that ends each stream after a minute ended the command after half an hour, in the middle of an import.
test('regression: an import is followed through any number of connections that bring news', async () => {
  const counts = { bytesRead: 9, bytesTotal: 9, rows: 1, rejected: 0 };
  let answers = 0;
  const { ending } = await following((_, response) => {
    answers += 1;
    const status = answers < 9 ? 'running' : 'completed';
    response.end(`data: ${JSON.stringify({ ...started, status, ...counts })}\n\n`);
  });
  expect(await ending).toMatchObject({ status: 'completed' });
});
