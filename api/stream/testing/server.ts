/** The live stream and the topics API on a real socket, with bounds set by the test. */
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { createKeyRing } from '../../../http/access/keys.js';
import { createTestServer } from '../../../http/testing/server.js';
import type { Log } from '../../../pipeline/ports.js';
import { sha256Hex } from '../../../schemas/sha256.js';
import { adminApiKey, startApi } from '../../testing/fixtures.js';
import { defaultSubscriberBounds, type SubscriberBounds, subscriberRoutes } from '../../topics/subscribers.js';

interface SubscribersOptions extends Partial<SubscriberBounds> {
  readonly authorityCheckMs?: number;
  /** Replaces the reads of the log. */
  readonly read?: Log['read'];
}

/** `api` creates projects and keys; `address` serves streams and topics. */
export async function startSubscribers({ authorityCheckMs, read, ...bounds }: SubscribersOptions = {}) {
  const api = await startApi();
  const logLines: string[] = [];
  const app = createTestServer({
    logger: pino({ level: 'debug' }, { write: (line) => void logLines.push(line) }),
    keyRing: createKeyRing(api.readModel),
    sessionAccess: { sessions: api.sessions, configuration: api.readModel },
    authorityCheckMs,
    adminApiKeySha256: sha256Hex(adminApiKey),
  });
  await app.register(
    subscriberRoutes({ log: { ...api.log, ...(read && { read }) } }, { ...defaultSubscriberBounds, ...bounds }),
  );
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  return {
    api,
    app,
    port,
    logLines,
    address: `http://127.0.0.1:${port}`,
    async close() {
      const closing = app.close();
      // Otherwise closing waits for connections that a client opened without a request.
      app.server.closeAllConnections();
      await closing;
      await api.close();
    },
  };
}

/** A server with the routes of subscribers, on a log of its own. */
export type Subscribers = Awaited<ReturnType<typeof startSubscribers>>;
