/**
 * Four projects that each started an upload and then sent nothing took all imports of a node. A fifth project was
 * refused for as long as they liked, and each of the four blocked its own imports and nightly sync.
 */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { type Body, useApi } from '../api/testing/fixtures.js';
import { createHeldLeases } from '../pipeline/held-lease.js';
import { until } from '../testing/until.js';
import { createImporter } from './importer.js';
import { type ImportDependencies, importRoutes } from './routes.js';

const clients: Socket[] = [];
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const row = 'description,type,tag,externalId,coordinates,radius\nShop,circle,slow,a,"[10,50]",100\n';

async function useServer(uploadBounds: NonNullable<ImportDependencies['uploadBounds']>) {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-slow-uploads-'));
  folders.push(folder);
  const api = await useApi({
    addRoutes: (dependencies) => async (app) => {
      const importer = createImporter({
        ...dependencies,
        leases: createHeldLeases(dependencies.values),
        bounds: { maxRunning: 1 },
      });
      await app.register(importRoutes, { ...dependencies, importer, folder, maxFileBytes: 2 ** 30, uploadBounds });
    },
  });
  await api.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = api.app.server.address() as AddressInfo;

  async function newKey(): Promise<string> {
    return (await api.newProject('Slow')).key('test', 'secret');
  }

  /** Sends the head of an upload and the start of its body. */
  function open(key: string, type: string, start: string): Socket {
    const client = connect(port, '127.0.0.1');
    clients.push(client);
    client.on('error', () => {});
    client.write(
      `POST /v1/geofences/import HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${key}\r\n` +
        `Content-Type: ${type}\r\nContent-Length: 1000000000\r\n\r\n${start}`,
    );
    return client;
  }

  /** Sends the start of an upload. Resolves when its file is written. */
  async function stall(key: string): Promise<void> {
    const before = readdirSync(folder).length;
    open(key, 'text/csv', row);
    await until(() => readdirSync(folder).length > before);
  }

  async function send(key: string): Promise<{ readonly status: number; readonly body: Body }> {
    const response = await fetch(`http://127.0.0.1:${port}/v1/geofences/import`, {
      method: 'POST',
      headers: { authorization: key, 'content-type': 'text/csv' },
      body: row,
    });
    return { status: response.status, body: await response.json() };
  }

  return { folder, newKey, open, stall, send };
}

afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
});

describe('uploads that stall', async () => {
  const { folder, newKey, stall, send } = await useServer({ maxUploads: 4 });

  it('hold up no import, neither of others nor of their own project', async () => {
    const keys = await Promise.all([newKey(), newKey(), newKey()]);
    for (const key of keys) await stall(key);
    for (const key of [await newKey(), ...keys]) expect(await send(key)).toMatchObject({ status: 200 });
    for (const client of clients) client.destroy();
    await until(() => readdirSync(folder).length === 0);
  });

  it('take few of the places of a node for one project, and all only together', async () => {
    const [one, other, third] = await Promise.all([newKey(), newKey(), newKey()]);
    for (const key of [one, one]) await stall(key);
    expect(await send(one)).toMatchObject({
      status: 503,
      body: {
        meta: { type: 'overloaded', message: 'this project sends 2 files to this server already; try again later' },
      },
    });
    expect(await send(other)).toMatchObject({ status: 200 });
    for (const key of [other, other]) await stall(key);
    expect(await send(third)).toMatchObject({
      status: 503,
      body: { meta: { type: 'overloaded', message: 'this server receives 4 files; try again later' } },
    });
    for (const client of clients) client.destroy();
    await until(() => readdirSync(folder).length === 0);
    expect(await send(third)).toMatchObject({ status: 200 });
  });
});

describe('an upload that is too slow', async () => {
  const { folder, newKey, open } = await useServer({ windowMs: 300 });

  const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n';
  const formType = 'multipart/form-data; boundary=x';
  it.each([
    ['a file', 'text/csv', row],
    ['a form', formType, `${part}${row}`],
    ['a form whose file has not begun', formType, part],
  ])('is ended as %s', async (_, type, start) => {
    const client = open(await newKey(), type, start);
    const [answer] = (await once(client, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 408 /);
    expect(answer.toString()).toContain('the file arrives too slowly: send 30000 bytes or more in 0.3 seconds');
    await until(() => readdirSync(folder).length === 0);
  });
});
