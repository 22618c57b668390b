/**
 * Every knob of a Fenceline process: its default, its bounds and what turning it does. The only place with defaults.
 *
 * A knob `ingest.replyTimeoutMs` is set, strongest first, by a flag (`--port`, `--host`, `--data` only), by the environment
 * (`FENCELINE_INGEST_REPLY_TIMEOUT_MS`), by the configuration file, or by the default here.
 */
import Type, { type Static } from 'typebox';

const count = (fallback: number, description: string, bounds: { minimum?: number; maximum?: number } = {}) =>
  Type.Integer({ minimum: 0, ...bounds, default: fallback, description });

const closed = { additionalProperties: false } as const;

export const ConfigurationSchema = Type.Object(
  {
    port: count(8080, 'TCP port to listen on; 0 takes a free one.', { maximum: 65_535 }),
    host: Type.String({
      default: '127.0.0.1',
      description: 'Address to listen on. 0.0.0.0 lets other machines in: put TLS in front, devices send their keys.',
    }),
    data: Type.String({ default: './data', description: 'Folder of everything that is kept. One process at a time may use it.' }),
    log: Type.Object(
      {
        level: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
          default: 'info',
          description: 'Least severe line that is written to standard error. debug adds a line per request.',
        }),
      },
      closed,
    ),
    http: Type.Object(
      {
        trustedProxies: Type.Array(Type.String(), {
          default: [],
          description:
            'Addresses or CIDRs whose X-Forwarded-For is believed. Geofences with `ip` judge by the address this yields.',
        }),
        maxBodyBytes: count(1_048_576, 'Largest body of an ordinary request; more is answered 413.', { minimum: 65_536 }),
        maxReplayBodyBytes: count(5_242_880, 'Largest body of /v1/track/replay and /v1/logs.', { minimum: 65_536 }),
      },
      closed,
    ),
    limits: Type.Object(
      {
        trackPerDevicePerSecond: count(10, 'Track calls of one device; more are answered 429. 0 lifts the limit.'),
        queryPerKeyPerSecond: count(1_000, 'Context and search calls of one key. 0 lifts the limit.'),
        managementPerKeyPerSecond: count(
          1_000,
          'Calls on geofences, beacons, settings, users and events of one key. 0 lifts it.',
        ),
      },
      closed,
    ),
    ingest: Type.Object(
      {
        replyTimeoutMs: count(2_000, 'How long a track call waits for its events before it answers without them.', {
          minimum: 10,
        }),
        maxBacklogRecords: count(
          30_000,
          'Accepted locations that wait to be evaluated; past it bulk uploads are slowed down, so that track calls are answered in time.',
          { minimum: 1_000 },
        ),
        maxInFlightRecords: count(100_000, 'Accepted but not yet durable locations; past it answers are 503 with Retry-After.', {
          minimum: 1_000,
        }),
      },
      closed,
    ),
    locations: Type.Object(
      {
        partitions: count(4, 'Partitions of the topics, fixed when the data folder is made.', { minimum: 1, maximum: 1_024 }),
        retentionDays: count(7, 'How long accepted locations stay on their topic, for replay.', { minimum: 1 }),
        maxBatchRecords: count(5_000, 'Most locations evaluated and committed at once. More is faster, less answers sooner.', {
          minimum: 1,
        }),
        cachedDevices: count(200_000, 'Device states held decoded in memory, about 1 kB each.', { minimum: 1_000 }),
      },
      closed,
    ),
    events: Type.Object(
      { retentionDays: count(30, 'How long events stay on their topic, for subscribers that were away.', { minimum: 1 }) },
      closed,
    ),
    analytics: Type.Object(
      {
        maxBatchRows: count(50_000, 'Most rows of one insert into ClickHouse.', { minimum: 1_000 }),
        flushIntervalMs: count(1_000, 'How long rows wait for company before they are inserted.', { minimum: 50 }),
        maxThreads: count(2, 'Threads that the embedded engine may use for one query.', { minimum: 1 }),
      },
      closed,
    ),
    expiry: Type.Object(
      { intervalMs: count(15_000, 'How often geofences past their deleteAfter are looked for.', { minimum: 100 }) },
      closed,
    ),
  },
  closed,
);
export type Configuration = Static<typeof ConfigurationSchema>;
