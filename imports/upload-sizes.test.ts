/**
 * Bodies over a real connection. Regression: an upload of more than 64 kB was never answered, because the body closed
 * before its last bytes were read.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { type Body, useApi } from '../api/testing/fixtures.js';
import { createImporter } from './importer.js';
import { importRoutes } from './routes.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-uploads-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const api = await useApi({
  addRoutes: (deps) => async (app) => {
    await app.register(importRoutes, { ...deps, importer: createImporter(deps), folder, maxFileBytes: 2 ** 30 });
  },
});
const address = await api.app.listen({ port: 0, host: '127.0.0.1' });

it.each([0, 20_000, 65_536, 70_000, 300_000])('a file of %d bytes more than a row is applied', async (moreBytes) => {
  const row = `Shop,circle,sizes,of-${moreBytes},"[10,50]",100\n`;
  const body = `description,type,tag,externalId,coordinates,radius\n${row}${'\n'.repeat(moreBytes)}`;
  const response = await fetch(`${address}/v1/geofences/import?wait=60`, {
    method: 'POST',
    headers: { authorization: api.secret, 'content-type': 'text/csv' },
    body,
  });
  const answer = (await response.json()) as Body;
  expect(answer.import).toMatchObject({ created: 1, bytesRead: body.length, bytesTotal: body.length });
});
