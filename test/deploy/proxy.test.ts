/** deploy/haproxy.cfg sends every call to the role that has its route. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultStreamBounds } from '../../api/stream/routes.js';
import { startApi, type TestApi } from '../../api/testing/fixtures.js';
import { type DeviceApi, startDeviceApi } from '../../testing/device-api.js';
import { compose, readRepositoryFile } from './compose.js';

const configuration = readRepositoryFile('deploy/haproxy.cfg');
const acl = (name: string): RegExp =>
  new RegExp(new RegExp(`^ *acl ${name} path -m reg (.+)$`, 'm').exec(configuration)![1]!);
const forDevices = acl('for_devices');
const events = acl('events');

/** Returns the role that the lines `use_backend` and `default_backend` choose. */
function roleFor(method: string, path: string): string {
  if (forDevices.test(path) || (events.test(path) && method === 'POST')) return 'ingest';
  return 'api';
}

let ingest: DeviceApi;
let api: TestApi;
beforeAll(async () => {
  ingest = await startDeviceApi({ stage: false });
  api = await startApi();
});
afterAll(async () => {
  await ingest?.close();
  await api?.close();
});

/** Method and path, with values for the parameters. */
async function routesOf({ app }: Pick<DeviceApi, 'app'>): Promise<[string, string][]> {
  const { paths } = (await app.inject('/openapi.json')).json();
  return Object.entries<object>(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method): [string, string] => [
      method.toUpperCase(),
      path.replaceAll(/\{\w+\}/g, '6b02-x'),
    ]),
  );
}

describe('the proxy', () => {
  it('routes by the rules that this test reads', () => {
    const decisions = configuration.split('\n').filter((line) => /^ *(use_backend|default_backend) /.test(line));
    expect(decisions.map((line) => line.trim())).toEqual([
      'use_backend ingest if for_devices',
      'use_backend ingest if events METH_POST',
      'default_backend api',
    ]);
  });

  it.each(['', '/', '/api', '//api'])('sends calls under %j/v1 to the role that answers them', async (prefix) => {
    const ofIngest = await routesOf(ingest);
    const ofApi = await routesOf(api);
    expect(ofIngest.length).toBeGreaterThan(8);
    expect(ofApi.length).toBeGreaterThan(40);
    const wrong = [
      ...ofIngest.filter(([method, path]) => roleFor(method, prefix + path) !== 'ingest'),
      ...ofApi.filter(([method, path]) => roleFor(method, prefix + path) !== 'api'),
    ];
    expect(wrong).toEqual([]);
  });

  // All clients behind a TLS proxy had the address of that proxy, because the header was always replaced.
  it('keeps X-Forwarded-For of trusted proxies only, and by default of none on another machine', () => {
    const lines = configuration.split('\n').filter((line) => /^ *(acl from_proxy|http-request set-header) /.test(line));
    expect(lines.map((line) => line.trim())).toEqual([
      expect.stringMatching(/^acl from_proxy src "\$\{TRUSTED_PROXIES\[\*\]-127\.0\.0\.1\}"$/),
      'http-request set-header X-Forwarded-For %[src] unless from_proxy { req.hdr(X-Forwarded-For) -m found }',
    ]);
    expect(compose.services.proxy!.environment!.TRUSTED_PROXIES).toMatch(/^\$\{TRUSTED_PROXIES:-127\.0\.0\.1\}$/);
  });

  it('uses the names and the port of the services', () => {
    const [, port] = /^EXPOSE (\d+)$/m.exec(readRepositoryFile('Dockerfile'))!;
    const servers = [...configuration.matchAll(/server-template node \d+ (\w+):(\d+) /g)].map(([, name, at]) => [
      name,
      at,
    ]);
    expect(servers).toEqual([
      ['ingest', port],
      ['api', port],
    ]);
    for (const [name] of servers) expect(compose.services).toHaveProperty([name!]);
  });

  it('keeps event streams open between two heartbeats', () => {
    for (const side of ['client', 'server']) {
      const [, seconds] = new RegExp(`timeout ${side} (\\d+)s`).exec(configuration)!;
      expect(Number(seconds) * 1_000).toBeGreaterThan(2 * defaultStreamBounds.heartbeatMs);
    }
  });
});
