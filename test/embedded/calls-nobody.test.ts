/**
 * A new server calls nobody: it needs no internet, and reports to no one. docs/security.md promises it and lists who is
 * called when a setting or a record names somebody.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../../testing/until.js';
import { ok } from '../support/client.js';
import { circle, standing } from '../support/places.js';
import { TestServer } from '../support/server.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-calls-'));
const callsFile = join(folder, 'calls');
/** Runs in every process and thread of the server, before its own code. */
const recorder = join(folder, 'recorder.mjs');
writeFileSync(
  recorder,
  `import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import dgram from 'node:dgram';
import dns from 'node:dns';
import net from 'node:net';
import { syncBuiltinESMExports } from 'node:module';
const note = (text) => appendFileSync(${JSON.stringify(callsFile)}, text + '\\n');
note(isMainThread ? 'process' : 'thread');
const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...given) {
  const [options] = Array.isArray(given[0]) ? given[0] : given;
  const { path, host = '', port } = typeof options === 'object' ? options : { path: undefined, port: options };
  note(path === undefined ? 'call ' + host + ':' + port : 'socket ' + path);
  return connect.apply(this, given);
};
dgram.Socket.prototype.send = () => note('call datagram');
for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6']) {
  const original = dns[name];
  dns[name] = (...given) => {
    if (!net.isIP(given[0])) note('call name ' + given[0]);
    return original(...given);
  };
}
syncBuiltinESMExports();
`,
);

it('starts, bakes its map, evaluates, draws, finds a town and answers a page without a call to anyone', async () => {
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // Without a basemap in the folder: the server makes its own.
  const server = await TestServer.start({ NODE_OPTIONS: `--import=${recorder}` }, async () => {});
  onTestFinished(() => server.dispose());
  const secret = server.as('test_secret');
  await secret.putGeofence('gate', circle(0, 0, 100));
  await server.as('test_publishable').track({ deviceId: 'phone', ...standing(0, 0) });
  await until(async () => ok(await secret.get('/v1/events')).events.length === 1);
  const town = ok(await secret.get('/v1/geocode/forward?query=Paris,%20TX'));
  expect(town.addresses).toHaveLength(1);
  const map = `publishableKey=${server.keys.test_publishable}&width=200&height=100&center=43.77,11.25&zoom=4`;
  await until(async () => (await fetch(`${server.address}/maps/static?${map}`)).ok);
  expect((await fetch(`${server.address}/`)).status).toBe(200);
  await server.stop();
  const noted = readFileSync(callsFile, 'utf8').trim().split('\n');
  // By a socket in its folder, a node asks whether another one runs there. So the recorder sees connections.
  expect(noted.filter((line) => line.startsWith('socket')).every((line) => line.includes(server.dataFolder))).toBe(
    true,
  );
  expect(noted.some((line) => line.startsWith('socket'))).toBe(true);
  // It ran in the processes that bake and draw, and in the threads.
  expect(noted.filter((line) => line === 'process').length).toBeGreaterThan(2);
  expect(noted.filter((line) => line === 'thread').length).toBeGreaterThan(2);
  expect(noted.filter((line) => line.startsWith('call'))).toEqual([]);
});
