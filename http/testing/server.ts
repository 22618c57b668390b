/** The HTTP server for tests: without keys, limits of rates and a log, unless a test gives them. */
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import type { RateLimits } from '../access/rate-limits.js';
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

export interface TestServerOptions extends Partial<Omit<HttpServerOptions, 'rateLimits'>> {
  readonly rateLimits?: Partial<RateLimits> | undefined;
}

export const createTestServer = (options: TestServerOptions = {}): FastifyInstance =>
  createHttpServer({
    logger: pino({ enabled: false }),
    keyRing: { callerOf: async () => undefined, isKnown: () => false },
    openApi: { title: 'Test', version: '0' },
    ...options,
    rateLimits: { ...noRateLimits, ...options.rateLimits },
  });
