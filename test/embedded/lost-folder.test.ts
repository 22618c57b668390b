/** docs/operations.md: the data folder is moved away while a node runs on it. */
import { renameSync, rmSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { TestServer } from '../support/server.js';

// A node without the analytics engine went on acknowledging locations after its folder was moved or deleted.
it('a node whose data folder is moved away ends with the reason, and starts again once it is back', async () => {
  const server = await TestServer.start();
  const away = `${server.dataFolder}-away`;
  onTestFinished(async () => {
    await server.dispose();
    rmSync(away, { recursive: true, force: true });
  });
  renameSync(server.dataFolder, away);
  expect((await server.process.exited).code).toBe(1);
  // While it ends, it may log as well that the free space is unknown.
  const reason = expect.stringMatching(/^fenceline: the data folder .* was moved, deleted or replaced/);
  expect(server.process.log()).toContainEqual(reason);

  // The analytics engine has created its own folder again meanwhile.
  rmSync(server.dataFolder, { recursive: true, force: true });
  renameSync(away, server.dataFolder);
  await server.restart();
});
