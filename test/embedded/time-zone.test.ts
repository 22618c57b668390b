/** A node starts in every time zone that Linux accepts in TZ. */
import { expect, it, onTestFinished } from 'vitest';
import { TestServer } from '../support/server.js';

// The engine of analytics refuses zones in POSIX form, and names in small letters. The message blamed the data folder:
// it advised to restore a backup, or to move the history away.
it.each(['CET-1CEST,M3.5.0,M10.5.0/3', 'utc'])('regression: a node did not start with TZ=%s', async (zone) => {
  const server = await TestServer.start({ TZ: zone });
  onTestFinished(() => server.dispose());
  const { status, body } = await server.as('test_secret').get('/v1/analytics/locations');
  expect([status, body]).toMatchObject([200, { rows: [] }]);
});
