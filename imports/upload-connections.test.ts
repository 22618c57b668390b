/**
 * Bodies over a real connection. Regressions: an upload of more than 64 kB was never answered, because the body closed
 * before its last bytes were read. And a sender who left early blocked all later imports of the project.
 */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import { type Body, useApi } from '../api/testing/fixtures.js';
import { createHeldLeases } from '../pipeline/held-lease.js';
import { openFiles } from '../testing/open-files.js';
import { until } from '../testing/until.js';
import { createImporter } from './importer.js';
import { importRoutes } from './routes.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-uploads-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const atOnce = async (): Promise<void> => {};
/** What happens between the head of an upload and the reading of its body. */
let beforeReading = atOnce;
const api = await useApi({
  addRoutes: (dependencies) => async (app) => {
    const importer = createImporter({ ...dependencies, leases: createHeldLeases(dependencies.values) });
    const check: typeof importer.check = (scope) => beforeReading().then(() => importer.check(scope));
    await app.register(importRoutes, {
      ...dependencies,
      importer: { ...importer, check },
      folder,
      maxFileBytes: 2 ** 30,
    });
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
])('an upload blocks no other if its sender leaves %s, before it is read', async (_, headers, sent) => {
  const client = connect((api.app.server.address() as AddressInfo).port, '127.0.0.1');
  const [connection] = (await once(api.app.server, 'connection')) as [Socket];
  const left = new Promise<void>((resolve) => {
    beforeReading = async () => {
      beforeReading = atOnce;
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
  await left;
  const next = `${columns}Shop,circle,left,a,"[10,50]",100\n`;
  await until(async () => (await sendCsv(next)).meta.code === 200);
  expect(readdirSync(folder)).toEqual([]);
});

/** Returns the files of the folder that this process has open, also those that are removed. */
const openUploads = (): string[] => openFiles().filter((path) => path.startsWith(folder));

const formHead = (name = 'shops.csv'): string =>
  `--x\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: text/csv\r\n\r\n`;
const formType = 'multipart/form-data; boundary=x';

// Each form whose sender left within the file kept its descriptor, and the space of the removed file, until the process
// ended.
it.runIf(process.platform === 'linux')('a form that its sender leaves within the file keeps no file open', async () => {
  const client = connect((api.app.server.address() as AddressInfo).port, '127.0.0.1');
  client.write(
    `POST /v1/geofences/import HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${api.secret}\r\n` +
      `Content-Type: ${formType}\r\nContent-Length: 10000000\r\n\r\n${formHead()}${'a'.repeat(200_000)}`,
  );
  await until(() => openUploads().length === 1);
  client.destroy();
  await until(() => openUploads().length === 0);
  await until(() => readdirSync(folder).length === 0);
});

const brokenGzip = (text: string): Buffer => {
  const whole = gzipSync(text);
  return Buffer.concat([whole.subarray(0, -200), Buffer.alloc(200, 7)]);
};

it.each([
  ['broken gzip', 400, { 'content-encoding': 'gzip' }, brokenGzip(formHead() + 'a'.repeat(3_000_000))],
  ['no end', 400, {}, Buffer.from(`${formHead()}${columns}`)],
  ['a second file that ends early', 400, {}, Buffer.from(`${formHead()}${columns}\r\n${formHead()}${columns}`)],
  ['an unknown file that ends early', 415, {}, Buffer.from(`${formHead('shops.pdf').replace('text/csv', 'x/y')}x`)],
])('a form with %s is refused and keeps no file open', async (_, status, headers, body) => {
  const response = await fetch(`${address}/v1/geofences/import`, {
    method: 'POST',
    headers: { authorization: api.secret, 'content-type': formType, ...headers },
    body: new Uint8Array(body),
  });
  expect(response.status).toBe(status);
  if (process.platform === 'linux') await until(() => openUploads().length === 0);
  expect(readdirSync(folder)).toEqual([]);
});
