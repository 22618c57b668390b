/** Starts the nightly sync of a node, and adds its routes. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { syncRoutes } from '../imports/sync/routes.js';
import { createSyncRunner, defaultSyncBounds, type SyncRunnerParts } from '../imports/sync/runner.js';
import { createSchedule } from '../imports/sync/schedule.js';
import { networksOf } from '../outbound/addresses.js';
import { createOutboundClient } from '../outbound/client.js';
import type { SyncRunRecord } from '../schemas/json/sync.js';
import type { Configuration } from './config/schema.js';
import { version } from './version.js';

/** How often a node looks for runs that are due. */
const tickMs = 1_000;
/** Limit of an answer that is not a file, such as an error of object storage. */
const maxErrorBytes = 16_384;
const maxConnectionsPerOrigin = 4;
/** A run may take the time of this many slow files, so that a place of the node is free again for others. */
const slowFilesOfRun = 3;
const maxTimerMs = 2 ** 31 - 1;

type SyncGiven = Pick<
  SyncRunnerParts,
  'configuration' | 'writer' | 'values' | 'leases' | 'importer' | 'mailer' | 'cipher' | 'admitWrite'
> & {
  /** Gets each run that has ended. */
  readonly onEnded: (run: SyncRunRecord) => void;
};

/** Looks for runs from the moment the server listens until it closes. */
export async function addSync(
  app: FastifyInstance,
  { sync, data }: Pick<Configuration, 'sync' | 'data'>,
  logger: Logger,
  given: SyncGiven,
): Promise<void> {
  const schedule = createSchedule(sync.time, sync.timeZone);
  const allowedNetworks = networksOf(sync.allowedNetworks);
  const client = createOutboundClient({
    allowedNetworks,
    userAgent: `Fenceline-Sync/${version}`,
    timeoutMs: sync.timeoutMs,
    bodyTimeoutMs: sync.timeoutMs,
    maxBodyBytes: maxErrorBytes,
    maxConnectionsPerOrigin,
  });
  const runner = createSyncRunner({
    ...given,
    client,
    schedule,
    clock: Date.now,
    folder: join(data, 'sync'),
    bounds: {
      ...defaultSyncBounds,
      maxBytes: sync.maxBytes,
      maxReadMs: Math.min(slowFilesOfRun * sync.timeoutMs, maxTimerMs),
    },
    pause: async (ms, signal) => {
      await delay(ms, undefined, { signal });
    },
    onProblem: (problem) => logger.error(problem, 'a sync ended by a fault, and is repeated'),
    onEnded({ project, environment }, run) {
      const { result, reason, message } = run;
      if (result !== 'succeeded') logger.warn({ project, environment, result, reason, message }, 'a sync has failed');
      given.onEnded(run);
    },
  });
  await app.register(syncRoutes({ ...given, clock: Date.now, schedule, allowedNetworks }));

  const closing = new AbortController();
  let looking: Promise<void> = Promise.resolve();
  async function look(): Promise<void> {
    while (!closing.signal.aborted) {
      await runner.tick().catch((error: Error) => logger.warn({ reason: error.message }, 'sync'));
      await delay(tickMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }
  app.addHook('onListen', async () => {
    looking = look();
  });
  app.addHook('preClose', async () => {
    closing.abort();
    await runner.close();
    await looking;
    await client.close();
  });
}
