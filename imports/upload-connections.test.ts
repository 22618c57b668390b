/**
 * Bodies over a real connection. Regressions: an upload of more than 64 kB was never answered, because the body closed
 * before its last bytes were read. And a sender who left early blocked all later imports of the project.
 */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { type Body, useApi } from '../api/testing/fixtures.js';
import { until } from '../testing/until.js';
import { createImporter } from './importer.js';
import { importRoutes } from './routes.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-uploads-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const atOnce = async (): Promise<void> => {};
/** What happens between the head of an upload and its admission. */
let beforeAdmission = atOnce;
const api = await useApi({
  addRoutes: (deps) => async (app) => {
    const importer = createImporter(deps);
    const admit: typeof importer.admit = (scope) => beforeAdmission().then(() => importer.admit(scope));
    await app.register(importRoutes, { ...deps, importer: { ...importer, admit }, folder, maxFileBytes: 2 ** 30 });
  },
});
const address = await api.app.listen({ port: 0, host: '127.0.0.1' });

async function sendCsv(body: string): Promise<Body> {
  const response = await fetch(`${address}/v1/geofences/import?wait=60`, {
    method: 'POST',
    headers: { authorization: api.secret, 'content-type': 'text/csv' },
    body,
  });
  return response.json();
}

const columns = 'description,type,tag,externalId,coordinates,radius\n';

it.each([0, 20_000, 65_536, 70_000, 300_000])('a file of %d bytes more than a row is applied', async (moreBytes) => {
  const body = `${columns}Shop,circle,sizes,of-${moreBytes},"[10,50]",100\n${'\n'.repeat(moreBytes)}`;
  const answer = await sendCsv(body);
  expect(answer.import).toMatchObject({ created: 1, bytesRead: body.length, bytesTotal: body.length });
});

it.each([
  ['before its body', [], ''],
  ['within its body', [], columns],
  ['within its compressed body', ['Content-Encoding: gzip'], 'x'],
  ['within its form', ['Content-Type: multipart/form-data; boundary=x'], '--x'],
])('an upload blocks no other if its sender leaves %s, before it is admitted', async (_, headers, sent) => {
  const client = connect((api.app.server.address() as AddressInfo).port, '127.0.0.1');
  const [connection] = (await once(api.app.server, 'connection')) as [Socket];
  const admission = new Promise<void>((resolve) => {
    beforeAdmission = async () => {
      beforeAdmission = atOnce;
      client.destroy();
      await once(connection, 'close');
      resolve();
    };
  });
  const head = [
    'POST /v1/geofences/import HTTP/1.1',
    'Host: localhost',
    `Authorization: ${api.secret}`,
    'Content-Length: 1000',
    ...(headers.some((line) => line.startsWith('Content-Type')) ? [] : ['Content-Type: text/csv']),
    ...headers,
  ];
  client.write(`${head.join('\r\n')}\r\n\r\n${sent}`);
  await admission;
  const next = `${columns}Shop,circle,left,a,"[10,50]",100\n`;
  await until(async () => (await sendCsv(next)).meta.code === 200, { timeoutMs: 10_000 });
  expect(readdirSync(folder)).toEqual([]);
});
