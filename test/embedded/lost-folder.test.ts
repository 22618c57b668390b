/** docs/operations.md: the data folder is moved away while a node runs on it. */
import { renameSync, rmSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { ok } from '../support/client.js';
import { TestServer } from '../support/server.js';

const locationOf = (deviceId: string) => ({ deviceId, latitude: 43, longitude: 11, accuracy: 5 });

/** Sends locations of a device until the server is gone. */
async function sendLocations(server: TestServer, deviceId: string): Promise<void> {
  const api = server.as('test_publishable');
  while (await api.post('/v1/track', locationOf(deviceId)).catch(() => undefined));
}

// A node without the analytics engine went on acknowledging locations after its folder was moved or deleted. Later, a
// third of the nodes that wrote meanwhile hung at their exit, and were killed by their guard after ten seconds.
it('a node whose data folder is moved away ends with the reason, and starts again once it is back', async () => {
  const server = await TestServer.start();
  const away = `${server.dataFolder}-away`;
  onTestFinished(async () => {
    await server.dispose();
    rmSync(away, { recursive: true, force: true });
  });
  const devices = Array.from({ length: 16 }, (_, device) => `d${device}`);
  const sent = Promise.all(devices.map((device) => sendLocations(server, device)));
  ok(await server.as('test_publishable').post('/v1/track', locationOf('first')));
  renameSync(server.dataFolder, away);
  expect(await server.process.exited).toEqual({ code: 1, signal: null });
  await sent;
  // While it ends, it may log as well that the free space is unknown.
  const reason = expect.stringMatching(/^fenceline: the data folder .* was moved, deleted or replaced/);
  expect(server.process.log()).toContainEqual(reason);

  // The analytics engine has created its own folder again meanwhile.
  rmSync(server.dataFolder, { recursive: true, force: true });
  renameSync(away, server.dataFolder);
  await server.restart();
});
