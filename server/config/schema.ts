/**
 * Every setting of a Fenceline process: its default, its bounds and what turning it does. The only place with defaults.
 *
 * A setting `ingest.replyTimeoutMs` is set, strongest first, by a flag (`--port`, `--host`, `--data` only), by the
 * environment (`FENCELINE_INGEST_REPLY_TIMEOUT_MS`), by the configuration file, or by the default here.
 */
import Type, { type Static } from 'typebox';

const count = (fallback: number, description: string, bounds: { minimum?: number; maximum?: number } = {}) =>
  Type.Integer({ minimum: 0, ...bounds, default: fallback, description });

const closed = { additionalProperties: false } as const;

const text = (fallback: string, description: string) => Type.String({ default: fallback, description });
/** Never shown: not by `fenceline config`, not in a log. */
const secret = (description: string) => Type.String({ default: '', description, secret: true });
const list = (fallback: string[], description: string) => Type.Array(Type.String(), { default: fallback, description });

/** How a connection to a service of the cluster is encrypted. */
const tlsSettings = (service: string) => ({
  tls: Type.Enum(['off', 'on'], {
    default: 'off',
    description: `Whether the connection to ${service} is encrypted and the server's certificate checked.`,
  }),
  caFile: text(
    '',
    `PEM file of the authorities that ${service}'s certificate may come from. Empty: those of the system.`,
  ),
  certFile: text('', `PEM file of our own certificate, where ${service} asks for one.`),
  keyFile: text('', 'PEM file of the key of our own certificate.'),
});

/** What a process of a cluster may do; embedded, one process does everything. */
export const roles = ['ingest', 'pipeline', 'api', 'webhooks', 'analytics'] as const;
export type Role = (typeof roles)[number];

export const ConfigurationSchema = Type.Object(
  {
    port: count(8080, 'TCP port to listen on; 0 takes a free one.', { maximum: 65_535 }),
    host: Type.String({
      minLength: 1,
      default: '127.0.0.1',
      description: 'Address to listen on. 0.0.0.0 lets other machines in: put TLS in front, devices send their keys.',
    }),
    data: Type.String({
      minLength: 1,
      default: './data',
      description:
        'Folder of everything that is kept; in a cluster, of what can be made anew. Every process needs one of its own.',
    }),
    backend: Type.Enum(['embedded', 'cluster'], {
      default: 'embedded',
      description:
        'embedded keeps everything in the data folder; cluster uses Kafka, Redis, ClickHouse and a schema registry.',
    }),
    roles: Type.Array(Type.Enum(roles), {
      default: [...roles],
      format: 'roles',
      description:
        'What this process of a cluster does: ingest takes locations, pipeline evaluates them, api answers and draws maps, webhooks sends, analytics stores. As many processes of each as wanted.',
    }),
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
        maxBodyBytes: count(1_048_576, 'Largest body of an ordinary request; more is answered 413.', {
          minimum: 65_536,
        }),
        maxReplayBodyBytes: count(5_242_880, 'Largest body of /v1/track/replay and /v1/logs.', { minimum: 65_536 }),
        bodyTimeoutMs: count(
          30_000,
          'How long a body may keep the server waiting, beside what its bytes earn; past it the answer is 408. Time in which the server itself reads more slowly does not count.',
          { minimum: 1_000 },
        ),
        minBodyBytesPerSecond: count(
          1_000,
          'Each so many bytes earn a body another second, so that an upload may take any time at this rate.',
          { minimum: 1 },
        ),
        maxConnections: count(10_000, 'Connections at once; more are answered 503 and closed.', { minimum: 1 }),
        maxConnectionsPerAddress: count(
          2_000,
          'Connections at once from one address, other than those of trustedProxies; more are answered 503 and closed. 0 lifts the limit.',
        ),
        readinessDelayMs: count(
          0,
          'On a stop, how long /health/ready answers 503 before the listener closes. Behind a load balancer: longer than it takes to notice.',
        ),
        drainTimeoutMs: count(
          10_000,
          'On a stop, how long requests may take to be answered after the listener has closed. Later ones are cut.',
          { minimum: 100 },
        ),
      },
      closed,
    ),
    limits: Type.Object(
      {
        trackPerDevicePerSecond: count(10, 'Track calls of one device; more are answered 429. 0 lifts the limit.'),
        trackPerKeyPerSecond: count(
          5_000,
          'Track and replay calls of one key on one node; more are answered 429. 0 lifts the limit.',
        ),
        trackPerProjectPerSecond: count(
          10_000,
          'Track and replay calls of all keys of one project on one node; more are answered 429. 0 lifts the limit.',
        ),
        locationsPerKeyPerSecond: count(
          20_000,
          'Locations in track and replay calls of one key on one node; more are answered 429. 0 lifts the limit. Set below what a node evaluates, or one key delays all projects.',
        ),
        locationsPerProjectPerSecond: count(
          100_000,
          'Locations of one project on one node, uploads included; more calls are answered 429, and uploads slow down. 0 lifts the limit.',
        ),
        queryPerKeyPerSecond: count(1_000, 'Context, search and map calls of one key. 0 lifts the limit.'),
        mapCostPerKeyPerSecond: count(
          1_000,
          'What the maps of one key may cost in the long run, in milliseconds of a processor each second, and 30 times as much at once; more is answered 429. Maps that are kept cost nothing. 0 lifts it.',
        ),
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
        maxInFlightRecords: count(
          100_000,
          'Accepted but not yet durable locations; past it answers are 503 with Retry-After.',
          {
            minimum: 1_000,
          },
        ),
      },
      closed,
    ),
    locations: Type.Object(
      {
        partitions: count(4, 'Partitions of the topics, fixed when the data folder is made.', {
          minimum: 1,
          maximum: 1_024,
        }),
        retentionDays: count(7, 'How long accepted locations stay on their topic, for replay.', { minimum: 1 }),
        maxBatchRecords: count(
          5_000,
          'Most locations evaluated and committed at once. More is faster, less answers sooner.',
          {
            minimum: 1,
          },
        ),
        cachedDevices: count(200_000, 'Device states held decoded in memory, about 1 kB each.', { minimum: 1_000 }),
      },
      closed,
    ),
    storage: Type.Object(
      {
        minFreeBytes: count(
          536_870_912,
          'Free space of the data folder below which writes are answered 503, until there is a tenth more. Below half of it evaluation, analytics and webhooks wait too.',
          { minimum: 1_048_576 },
        ),
        minFreePercent: count(1, 'The same as a share of the disk. The larger of the two bounds counts.', {
          maximum: 50,
        }),
      },
      closed,
    ),
    events: Type.Object(
      {
        retentionDays: count(30, 'How long events stay on their topic, for subscribers that were away.', {
          minimum: 1,
        }),
      },
      closed,
    ),
    deadLetters: Type.Object(
      {
        maxPercent: count(
          50,
          'A partition is halted when more than so many percent of its last 1,000 records (and at least 100) could not be read: that is a bad deploy and not bad data. 100 never halts, and sets all of them aside.',
          { maximum: 100 },
        ),
      },
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
    webhooks: Type.Object(
      {
        allowedNetworks: Type.Array(Type.String(), {
          default: [],
          format: 'networks',
          description:
            'CIDRs that webhooks may be sent to although they are private, loopback or otherwise reserved. Empty: no such address is ever connected to.',
        }),
        timeoutMs: count(15_000, 'From resolving the name to the answer; then a try counts as failed.', {
          minimum: 100,
          maximum: 120_000,
        }),
        retrySchedule: Type.Array(Type.String(), {
          default: ['5', '300', '1800', '7200', '18000', '36000', '36000'],
          format: 'seconds',
          description: 'Seconds from a failed attempt to each retry. A delivery is given up when the last retry fails.',
        }),
        maxConcurrencyPerEndpoint: count(
          16,
          'Requests in flight to one webhook; one that fails gets one at a time until it succeeds.',
          {
            minimum: 1,
          },
        ),
        maxConcurrency: count(2_000, 'Requests in flight to all webhooks together.', { minimum: 1 }),
        maxPerEnvironment: count(1_000, 'Webhooks of one project and environment; more are refused.', { minimum: 1 }),
        deliveryRetentionDays: count(
          14,
          'How long a delivery waits at most, as for a disabled webhook, before it is given up.',
          {
            minimum: 1,
          },
        ),
      },
      closed,
    ),
    maps: Type.Object(
      {
        archive: Type.String({
          default: '',
          description:
            'What maps are drawn from: path of a PMTiles or MBTiles archive, URL of a PMTiles archive or of TileJSON, or a URL of tiles with {z}, {x} and {y} in it. Empty: the built-in basemap, which has countries, waters and places, but no streets.',
        }),
        archiveAttribution: text(
          '',
          'Whom maps are owed to, shown in their corner, where the archive or TileJSON says nothing. Most data may be used on that condition only.',
        ),
        archiveMaxZoom: count(
          14,
          'Last zoom of tiles by URL where no TileJSON says it; beyond it they are enlarged. Too high: background instead of tiles. Too low: coarse maps.',
          { maximum: 24 },
        ),
        workers: count(
          0,
          'Processes that draw, each with 150 to 500 MB; none is started before the first map. Of several, one is kept free of large maps. 0: one less than the processors, at least two.',
          { maximum: 64 },
        ),
        timeoutMs: count(
          15_000,
          'How long one map may be drawn; past it its process is replaced. After three times as long, waiting included, the answer is 503.',
          {
            minimum: 100,
            maximum: 100_000,
          },
        ),
        maxPixelsInFlight: count(
          100_000_000,
          'Pixels of all maps that wait or are drawn; past it the answer is 503 with Retry-After. A map of 600 by 400 at scale 2 has 960,000, and the largest 37,748,736.',
          { minimum: 100_000 },
        ),
        maxCacheBytes: count(67_108_864, 'Of finished images kept in memory, to be answered again.'),
        maxStylesPerEnvironment: count(20, 'Uploaded styles of one project and environment; more are refused.', {
          minimum: 1,
        }),
        maxMarkersPerEnvironment: count(100, 'Uploaded markers of one project and environment; more are refused.', {
          minimum: 1,
        }),
        allowedNetworks: Type.Array(Type.String(), {
          default: [],
          format: 'networks',
          description:
            'CIDRs that icons of markers and sprites of styles may be fetched from although they are private, loopback or otherwise reserved. Whoever has a publishable key chooses the URL of an icon.',
        }),
      },
      closed,
    ),
    kafka: Type.Object(
      {
        brokers: list(['127.0.0.1:9092'], 'Some of the brokers, as host:port.'),
        prefix: text(
          'fenceline.',
          'Before the name of every topic and consumer group: several installations may share brokers.',
        ),
        replicationFactor: Type.Integer({
          minimum: -1,
          maximum: 100,
          default: -1,
          description:
            "Replicas of the topics that are made. -1 takes the brokers' default; 3 survives the loss of a broker.",
        }),
        minInSyncReplicas: count(
          0,
          'Replicas that must have a record before it counts as accepted, of topics that are made. 0 takes 2 where replicationFactor is 3 or more, else 1; ' +
            "with a replicationFactor of -1 it takes the brokers' default.",
          { maximum: 100 },
        ),
        sessionTimeoutMs: count(15_000, 'A consumer unheard of for so long loses its partitions to others.', {
          minimum: 1_000,
          maximum: 300_000,
        }),
        stallTimeoutMs: count(
          180_000,
          'A consumer whose partition has records but does not move for so long ends its process.',
          {
            minimum: 10_000,
          },
        ),
        saslMechanism: Type.Enum(['none', 'plain', 'scram-sha-256', 'scram-sha-512'], {
          default: 'none',
          description: 'How we log in to Kafka. plain only together with tls.',
        }),
        username: text('', 'User that logs in to Kafka.'),
        password: secret('Password of that user.'),
        ...tlsSettings('Kafka'),
      },
      closed,
    ),
    registry: Type.Object(
      {
        url: text('http://127.0.0.1:8081', "Address of the schema registry's Confluent-compatible API."),
        username: text('', 'User of the registry; empty for none.'),
        password: secret('Password of that user.'),
        caFile: text(
          '',
          "PEM file of the authorities that the registry's certificate may come from. Empty: those of the system.",
        ),
      },
      closed,
    ),
    redis: Type.Object(
      {
        nodes: list(['127.0.0.1:6379'], 'The Redis server, or some nodes of a Redis Cluster, as host:port.'),
        mode: Type.Enum(['single', 'cluster'], {
          default: 'single',
          description: 'cluster spreads the partitions over the nodes of a Redis Cluster.',
        }),
        prefix: text('fenceline:', 'Before every key and channel: several installations may share a Redis.'),
        username: text('', 'ACL user; empty for the default user.'),
        password: secret('Password of that user.'),
        connectTimeoutMs: count(5_000, 'How long a connection may take to be made.', { minimum: 100 }),
        commandTimeoutMs: count(10_000, 'After which a command counts as failed and is repeated.', { minimum: 100 }),
        stateRetentionDays: count(
          90,
          'A device that was silent for so long is forgotten: its next location counts as its first. 0 keeps devices for ever.',
        ),
        ...tlsSettings('Redis'),
      },
      closed,
    ),
    clickhouse: Type.Object(
      {
        url: text('http://127.0.0.1:8123', 'Address of the HTTP interface of ClickHouse; https encrypts.'),
        database: text('fenceline', 'Database of our tables; made when missing.'),
        username: text('default', 'User that logs in to ClickHouse.'),
        password: secret('Password of that user.'),
        caFile: text(
          '',
          "PEM file of the authorities that ClickHouse's certificate may come from. Empty: those of the system.",
        ),
        requestTimeoutMs: count(
          60_000,
          'How long an insert or a question may take; the longest question of the API takes 20 s.',
          {
            minimum: 21_000,
          },
        ),
        cluster: text(
          '',
          "Name of a cluster in ClickHouse's configuration: tables are then replicated and spread over its shards. Empty: one server.",
        ),
      },
      closed,
    ),
    expiry: Type.Object(
      {
        intervalMs: count(15_000, 'How often geofences past their deleteAfter are looked for.', { minimum: 100 }),
        retentionDays: count(
          14,
          'How long a geofence past its deleteAfter is kept to judge locations of before that come late. They may be 7 days old, and wait as long as locations.retentionDays. Nothing else shows it.',
          { minimum: 0 },
        ),
      },
      closed,
    ),
  },
  closed,
);
export type Configuration = Static<typeof ConfigurationSchema>;
