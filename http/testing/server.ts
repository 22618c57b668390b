/** The HTTP server for tests: without keys, rate limits and a log, and with wide bounds, unless a test gives them. */
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import type { RateLimits } from '../access/rate-limits.js';
import type { ConnectionBounds, ConnectionSettings } from '../connections/connections.js';
import { createHttpServer, type HttpServerOptions } from '../server.js';

const noRateLimits: RateLimits = {
  trackPerDevicePerSecond: 0,
  trackPerKeyPerSecond: 0,
  trackPerProjectPerSecond: 0,
  locationsPerKeyPerSecond: 0,
  locationsPerProjectPerSecond: 0,
  queryPerKeyPerSecond: 0,
  managementPerKeyPerSecond: 0,
};

const connectionSettings: ConnectionSettings = {
  maxConnections: 10_000,
  maxConnectionsPerAddress: 0,
  proxies: { has: () => false },
  bodyTimeoutMs: 30_000,
  minBodyBytesPerSecond: 1_000,
};

interface TestServerOptions extends Partial<Omit<HttpServerOptions, 'rateLimits' | 'connections'>> {
  readonly rateLimits?: Partial<RateLimits> | undefined;
  readonly connections?: Partial<ConnectionBounds>;
}

/** Creates a server without keys, rate limits and log, unless the options say otherwise. */
export const createTestServer = (options: TestServerOptions = {}): FastifyInstance =>
  createHttpServer({
    logger: pino({ enabled: false }),
    keyRing: { callerOf: async () => undefined, isKnown: () => false, catchUp: async () => {} },
    openApi: { title: 'Test', version: '0' },
    bodyLimitBytes: 2 ** 20,
    maxBufferedBodyBytes: 256 * 2 ** 20,
    maxUnsentBytes: 256 * 2 ** 20,
    ...options,
    rateLimits: { ...noRateLimits, ...options.rateLimits },
    connections: { ...connectionSettings, ...options.connections },
  });
