/**
 * A data folder holds no secret in plain text, and only its owner may read it.
 *
 * Once, 45 webhook secrets were in `log/data.mdb` in plain text. `backends/embedded/environment.test.ts` shows how they
 * got there; this test searches all files.
 */
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { placeBasemap } from '../support/basemap.js';
import { ok } from '../support/client.js';
import { TestServer } from '../support/server.js';

const rotations = 60;
const webhooks = 4;

let server: TestServer | undefined;
afterEach(async () => {
  await server?.dispose();
  server = undefined;
});

interface Entry {
  readonly path: string;
  readonly isFolder: boolean;
  readonly isFile: boolean;
  readonly isLink: boolean;
  /** The permissions, such as 0o600. */
  readonly mode: number;
}

function entriesOf(folder: string): Entry[] {
  const inside = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  return [folder, ...inside].map((path) => {
    const stats = lstatSync(path);
    return {
      path,
      isFolder: stats.isDirectory(),
      isFile: stats.isFile(),
      isLink: stats.isSymbolicLink(),
      mode: stats.mode & 0o777,
    };
  });
}

/** Returns some of the files that others may read: a folder of chDB has hundreds. The mode of a link says nothing. */
const openToOthers = (folder: string): string[] =>
  entriesOf(folder)
    .filter(({ mode, isLink }) => !isLink && (mode & 0o077) !== 0)
    .map(({ path, mode }) => `${path} ${mode.toString(8)}`)
    .slice(0, 10);

/** Returns every issued secret, in each form in which it could be found. */
const formsOf = (secret: string): Buffer[] => [
  Buffer.from(secret),
  Buffer.from(secret, 'utf16le'),
  Buffer.from(secret.replace(/^whsec_/, ''), 'base64'),
  Buffer.from(secret.replace(/^prj_(test|live)_(pk|sk)_/, '')),
];

function filesWith(folder: string, secrets: readonly string[]): string[] {
  return entriesOf(folder)
    .filter(({ isFile }) => isFile)
    .flatMap(({ path }) => {
      const bytes = readFileSync(path);
      const found = secrets.filter((secret) => formsOf(secret).some((form) => bytes.includes(form)));
      return found.length > 0 ? [`${found.length} in ${path}`] : [];
    });
}

const sessionOf = (headers: Headers): string => /fenceline-session=(\w+)/.exec(headers.get('set-cookie') ?? '')![1]!;

/** Signs up, changes the password and saves a sync. Returns all secrets that were issued or must not be readable. */
async function secretsOfAccount(of: TestServer): Promise<string[]> {
  const [first, second] = ['correct horse battery', 'another horse battery'];
  const credentials = { accessKeyId: 'AKIDTESTONLY0000', secretAccessKey: 'wJalrXUtnFEMIK7MDENGbPxRfiCYTESTONLY' };
  const stranger = of.withKey(undefined);
  const account = { email: 'ada@example.com', password: first, project: 'Shop' };
  const signedUp = await stranger.post('/v1/signup', account);
  const keys: string[] = ok(signedUp).project.keys.map(({ key }: { key: string }) => key);
  const session = sessionOf(signedUp.headers);
  const headers = { cookie: `fenceline-session=${session}`, 'sec-fetch-site': 'same-origin' };
  const changed = await stranger.send('PUT', '/v1/password', { body: { current: first, password: second }, headers });
  const bucket = { protocol: 's3', region: 'eu-central-1', bucket: 'shops', keys: ['a.csv'], enabled: false };
  const secretKey = keys.find((key) => key.startsWith('prj_test_sk_'));
  ok(await of.withKey(secretKey).put('/v1/sync', { ...bucket, ...credentials }));
  return [...Object.values(credentials), ...keys, first, second, session, sessionOf(changed.headers)];
}

describe('a data folder', () => {
  it('holds no issued secret in plain text after many rotations', async () => {
    server = await TestServer.start({
      FENCELINE_LIMITS_MANAGEMENT_PER_KEY_PER_SECOND: '0',
      FENCELINE_SIGNUP_ENABLED: 'on',
    });
    const administrator = await server.administrator();
    const client = server.as('live_secret');
    const issued: string[] = [];

    const ids: string[] = [];
    for (let index = 0; index < webhooks; index++) {
      const { webhook } = ok(
        await client.post('/v1/webhooks', { url: `https://example.com/${index}`, types: ['user.entered_geofence'] }),
      );
      ids.push(webhook._id);
      issued.push(webhook.secrets[0].secret);
    }
    const { project } = ok(await administrator.post('/v1/projects', { name: 'Rotated' }));
    for (const { key } of project.keys) issued.push(key);
    for (let rotation = 0; rotation < rotations; rotation++) {
      const path = `/v1/webhooks/${ids[rotation % webhooks]}/secrets`;
      issued.push(ok(await client.post(path, { overlapHours: 0 })).webhook.secrets[0].secret);
      if (rotation % 4 > 0) continue;
      const rotated = { environment: 'test', kind: rotation % 8 > 0 ? 'secret' : 'publishable' };
      issued.push(ok(await administrator.post(`/v1/projects/${project._id}/keys/rotate`, rotated)).key);
      await client.track({ deviceId: `phone-${rotation}`, latitude: 43.77, longitude: 11.25 });
    }
    expect(new Set(issued).size).toBe(webhooks + 4 + rotations + rotations / 4);
    expect(issued.every((secret) => /^(whsec_|prj_)/.test(secret))).toBe(true);
    const ofAccount = await secretsOfAccount(server);

    await server.stop();
    expect(filesWith(server.dataFolder, [...issued, ...ofAccount])).toEqual([]);
  });

  it('is readable only by its owner, with all its files, also at the next start of an earlier version', async () => {
    server = await TestServer.start({}, async (folder) => {
      await placeBasemap(folder);
      chmodSync(folder, 0o755);
    });
    await server.as('test_secret').track({ deviceId: 'phone', latitude: 43.77, longitude: 11.25 });
    expect(entriesOf(server.dataFolder).length).toBeGreaterThan(20);
    expect(openToOthers(server.dataFolder)).toEqual([]);
    await server.stop();
    expect(openToOthers(server.dataFolder)).toEqual([]);

    // Earlier versions gave others permissions.
    for (const { path, isFolder } of entriesOf(server.dataFolder)) chmodSync(path, isFolder ? 0o755 : 0o644);
    mkdirSync(join(server.dataFolder, 'copies'), { mode: 0o777 });
    writeFileSync(join(server.dataFolder, 'copies', 'encryption-key'), 'x', { mode: 0o644 });
    await server.restart();
    expect(openToOthers(server.dataFolder)).toEqual([]);
    await server.stop();
  });
});
