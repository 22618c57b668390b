/**
 * A file of 2 GiB, sent as 2 MB of gzip, filled the disk beyond the space that is kept free, because uploads asked for
 * space only when they began. Then evaluation waited for all projects.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, expect, it } from 'vitest';
import { useApi } from '../api/testing/fixtures.js';
import { storageFull } from '../backends/embedded/space.js';
import { createHeldLeases } from '../pipeline/held-lease.js';
import { createImporter } from './importer.js';
import { importRoutes } from './routes.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-full-disk-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Questions for space that are answered yes. */
let admissions = Number.POSITIVE_INFINITY;
afterEach(() => {
  admissions = Number.POSITIVE_INFINITY;
});

const api = await useApi({
  addRoutes: (dependencies) => async (app) => {
    const admitWrite = (): void => {
      admissions -= 1;
      if (admissions < 0) throw storageFull();
    };
    const importer = createImporter({
      ...dependencies,
      leases: createHeldLeases(dependencies.values),
      bounds: { maxRunning: 1 },
    });
    await app.register(importRoutes, { ...dependencies, importer, folder, maxFileBytes: 2 ** 30, admitWrite });
  },
});
await api.app.listen({ port: 0, host: '127.0.0.1' });
const { port } = api.app.server.address() as AddressInfo;
const row = 'description,type,tag,externalId,coordinates,radius\nShop,circle,full,a,"[10,50]",100\n';
const bytes = Buffer.from(row + '\n'.repeat(4 * 2 ** 20));

function formOf(file: Buffer): FormData {
  const form = new FormData();
  form.append('file', new Blob([file]), 'stores.csv');
  return form;
}

it.each<[string, () => RequestInit]>([
  ['gzip', () => ({ body: gzipSync(bytes), headers: { 'content-type': 'text/csv', 'content-encoding': 'gzip' } })],
  ['plain text', () => ({ body: bytes, headers: { 'content-type': 'text/csv' } })],
  ['a form', () => ({ body: formOf(bytes) })],
])('an upload as %s ends when the disk becomes nearly full, and leaves no file', async (_kind, requestOf) => {
  const key = (await api.newProject('Full')).key('test', 'secret');
  const send = async () => {
    const { headers, ...request } = requestOf();
    const url = `http://127.0.0.1:${port}/v1/geofences/import`;
    const answer = await fetch(url, { method: 'POST', ...request, headers: { ...headers, authorization: key } });
    return { status: answer.status, type: ((await answer.json()) as { meta: { type?: string } }).meta.type };
  };
  admissions = 10;
  expect(await send()).toEqual({ status: 503, type: 'storage_full' });
  expect(readdirSync(folder)).toEqual([]);
  admissions = Number.POSITIVE_INFINITY;
  expect((await send()).status).toBe(200);
});
