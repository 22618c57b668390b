/** docs/operations.md: the data folder is moved away while a node runs on it. */
import { renameSync, rmSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { ok } from '../support/client.js';
import { TestServer } from '../support/server.js';

const locationOf = (deviceId: string) => ({ deviceId, latitude: 43, longitude: 11, accuracy: 5 });

/** Repeats a request until the server is gone. */
async function repeat(request: () => Promise<unknown>): Promise<void> {
  while (await request().catch(() => undefined));
}

// A node without the analytics engine went on acknowledging locations after its folder was moved or deleted. Later, a
// third of the nodes that wrote meanwhile hung at their exit, and were killed by their guard after ten seconds. So did
// one in three of those that answered analytics queries under load: the thread of the running statement was ended, and
// the engine aborted.
it('a node whose data folder is moved away ends with the reason, and starts again once it is back', async () => {
  const server = await TestServer.start();
  const away = `${server.dataFolder}-away`;
  onTestFinished(async () => {
    await server.dispose();
    rmSync(away, { recursive: true, force: true });
  });
  const [device, owner] = [server.as('test_publishable'), server.as('test_secret')];
  const requests = [
    ...Array.from({ length: 16 }, (_, index) => () => device.post('/v1/track', locationOf(`d${index}`))),
    ...Array.from({ length: 4 }, () => () => owner.get('/v1/users')),
  ];
  const sent = Promise.all(requests.map(repeat));
  ok(await device.post('/v1/track', locationOf('first')));
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
