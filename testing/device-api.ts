/**
 * The HTTP API that devices call, for tests: the routes of ingest and of SDKs on the real log, read model, states and
 * location stage of a node, behind the real HTTP server.
 */
import type { FastifyInstance } from 'fastify';
import type { SdkDependencies } from '../api/sdk/dependencies.js';
import { sdkRoutes } from '../api/sdk/routes.js';
import { createKeyRing, newKey } from '../http/access/keys.js';
import type { RateLimits } from '../http/access/rate-limits.js';
import { createTestServer } from '../http/testing/server.js';
import type { IngestBounds, IngestDependencies } from '../ingest/dependencies.js';
import { storedState } from '../ingest/last-known.js';
import { startRejectionCounter } from '../ingest/rejections.js';
import { ingestRoutes } from '../ingest/routes.js';
import type { SpatialQueries } from '../pipeline/catalog/types.js';
import type { Inbox, Replies } from '../pipeline/ports.js';
import { geofenceRecord, projectRecord, TestNode } from '../pipeline/stages/testing/node.js';
import { defaultSettings, type Settings } from '../schemas/json/project.js';

/** The arguments of the last spatial query, by the name of the query. */
type Asked = { [Name in keyof SpatialQueries]?: Parameters<SpatialQueries[Name]>[0] };

/** Replies that stay within the process. */
function localReplies(): { inbox: Inbox; replies: Replies } {
  let listener: (request: string, body: string) => void = () => {};
  return {
    inbox: {
      address: 'here',
      onReply(onReply) {
        listener = onReply;
      },
    },
    replies: { send: (replyTo, body) => listener(replyTo.slice('here/'.length), body) },
  };
}

/** A started API, its node and keys, and what it has counted. */
export interface DeviceApi {
  readonly node: TestNode;
  readonly app: FastifyInstance;
  readonly publishable: string;
  readonly secret: string;
  readonly asked: Asked;
  readonly counted: Record<string, number>;
  close(): Promise<void>;
}

/** Parts that a test replaces. */
export interface DeviceApiOptions {
  readonly routes?: SdkDependencies['routes'];
  readonly bounds?: Partial<IngestBounds>;
  readonly paceBulk?: IngestDependencies['paceBulk'];
  readonly settings?: Partial<Settings>;
  readonly rateLimits?: Partial<RateLimits>;
  readonly authorityCheckMs?: number;
  /** The clock of the rate limits, epoch ms. */
  readonly rateClock?: () => number;
  /** false: locations become durable and are not evaluated. */
  readonly stage?: boolean;
  readonly log?: (log: IngestDependencies['log']) => IngestDependencies['log'];
  /** How many geofences a spatial search finds. */
  readonly found?: (radiusM: number | undefined) => number;
  /** Number of beacons that a search finds. */
  readonly foundBeacons?: (radiusM: number) => number;
}

const ingestBounds: IngestBounds = {
  replyTimeoutMs: 2_000,
  maxInFlightRecords: 100_000,
  maxReplayBodyBytes: 5 * 2 ** 20,
};

/** Starts the API for devices on a node of its own. It has a circle of 100 m about [10, 50] with tag `shop`. */
export async function startDeviceApi(options: DeviceApiOptions = {}): Promise<DeviceApi> {
  const node = await TestNode.open();
  const [publishable, secret] = [newKey('test', 'publishable', 0), newKey('test', 'secret', 0)];
  const settings = { ...defaultSettings, ...options.settings };
  await node.configure(
    {
      kind: 'project',
      record: projectRecord({
        keys: [publishable.record, secret.record],
        settings: { test: settings, live: defaultSettings },
      }),
    },
    { kind: 'geofence', record: geofenceRecord() },
  );
  const { inbox, replies } = localReplies();
  if (options.stage !== false) node.start({ replies });

  const asked: Asked = {};
  const counted: Record<string, number> = {};
  const things = (count: number): object[] => Array.from({ length: count }, (_, index) => ({ _id: String(index) }));
  const spatial: SpatialQueries = {
    context: async (query) => {
      asked.context = query;
      return things(1);
    },
    searchGeofences: async (query) => {
      asked.searchGeofences = query;
      const found = things(options.found?.(query.radiusM) ?? 2);
      return found.map((geofence) => ({ ...geofence, userIds: 'ann,bob', ip: '10.0.0.0/8' }));
    },
    searchBeacons: async (query) => {
      asked.searchBeacons = query;
      return things(Math.min(options.foundBeacons?.(query.radiusM) ?? 3, query.limit));
    },
    explain: async () => ({}),
  };
  const app = createTestServer({
    keyRing: createKeyRing(node.readModel),
    rateLimits: options.rateLimits,
    authorityCheckMs: options.authorityCheckMs,
    ...(options.rateClock && { clock: options.rateClock }),
  });
  const { log, stateStore: states, values } = node.embedded;
  const rejections = startRejectionCounter(log, Date.now);
  const shared = { log: options.log?.(log) ?? log, configuration: node.readModel, spatial, clock: Date.now };
  const count = (counter: string, amount: number, label?: string): void => {
    const name = label === undefined ? counter : `${counter}/${label}`;
    counted[name] = (counted[name] ?? 0) + amount;
  };
  await app.register(ingestRoutes, {
    ...shared,
    inbox,
    states,
    values,
    bounds: { ...ingestBounds, ...options.bounds },
    paceBulk: options.paceBulk ?? (async () => {}),
    rejections,
    metrics: { add: count },
  });
  await app.register(sdkRoutes, {
    ...shared,
    states: (scope, deviceId) => storedState({ ...scope, deviceId }, { log, states }),
    maxLogsBytes: ingestBounds.maxReplayBodyBytes,
    routes: options.routes,
    metrics: { add: count },
  });
  await app.ready();
  return {
    node,
    app,
    publishable: publishable.key,
    secret: secret.key,
    asked,
    counted,
    async close() {
      await app.close();
      await rejections.close();
      await node.dispose();
    },
  };
}

const metresPerDegree = 111_320;

/** Returns the point that is this many metres north of the centre of the configured circle. */
export const north = (metres: number) => ({ latitude: 50 + metres / metresPerDegree, longitude: 10, accuracy: 5 });
