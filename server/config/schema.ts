/**
 * All settings of a Fenceline process, with defaults, limits and consequences. The only file with defaults.
 *
 * The sources of a setting such as `ingest.replyTimeoutMs`, by precedence: a flag (only `--port`, `--host`, `--data`),
 * the environment variable (`FENCELINE_INGEST_REPLY_TIMEOUT_MS`), the configuration file, the default in this file.
 */

/** The value of a setting. */
export type SettingValue = string | number | string[];

/** One setting. The type of its value is the type of its default. */
export interface SettingSchema<Value extends SettingValue = SettingValue> {
  readonly type: 'string' | 'integer' | 'array';
  /** What a text is, unless it is empty, or the items of a list. */
  readonly format?: 'bounds' | 'header' | 'networks' | 'roles' | 'seconds' | 'timeOfDay' | 'timeZone' | 'url';
  /** A password. Neither `fenceline config` nor the log shows it. */
  readonly secret?: true;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly default: Value;
  /** What the setting does and what follows from a higher or a lower value. Public documentation. */
  readonly description: string;
}

interface Limits {
  readonly minimum?: number;
  readonly maximum?: number;
}

/** More is a mistake. Products of counts and durations stay whole numbers. */
const maxCount = 2 ** 31 - 1;
const maxBytes = 2 ** 50;
/** A hundred years: times before and after now by this much are dates. */
const maxDays = 36_500;

const count = (fallback: number, description: string, limits: Limits = {}): SettingSchema<number> => ({
  type: 'integer',
  minimum: 0,
  maximum: maxCount,
  ...limits,
  default: fallback,
  description,
});
/** Longer timers of Node end at once. */
const maxTimerMs = 2 ** 31 - 1;
const milliseconds = (fallback: number, description: string, limits: Limits = {}): SettingSchema<number> =>
  count(fallback, description, { maximum: maxTimerMs, ...limits });
const bytes = (fallback: number, description: string, limits: Limits = {}): SettingSchema<number> =>
  count(fallback, description, { maximum: maxBytes, ...limits });
const days = (fallback: number, description: string, limits: Limits = {}): SettingSchema<number> =>
  count(fallback, description, { maximum: maxDays, ...limits });
const text = (fallback: string, description: string): SettingSchema<string> => ({
  type: 'string',
  default: fallback,
  description,
});
const formatted = (
  format: 'header' | 'timeOfDay' | 'timeZone' | 'url',
  fallback: string,
  description: string,
): SettingSchema<string> => ({ ...text(fallback, description), format });
const requiredText = (fallback: string, description: string): SettingSchema<string> => ({
  ...text(fallback, description),
  minLength: 1,
});
const secret = (description: string): SettingSchema<string> => ({ ...text('', description), secret: true });
const secretHeader = (description: string): SettingSchema<string> => ({ ...secret(description), format: 'header' });
const oneOf = <const Value extends string>(
  allowed: readonly Value[],
  fallback: NoInfer<Value>,
  description: string,
): SettingSchema<Value> => ({ type: 'string', enum: allowed, default: fallback, description });
const list = (fallback: string[], description: string): SettingSchema<string[]> => ({
  type: 'array',
  default: fallback,
  description,
});
const seconds = (fallback: string[], description: string): SettingSchema<string[]> => ({
  ...list(fallback, description),
  format: 'seconds',
});
const bounds = (description: string): SettingSchema<string[]> => ({ ...list([], description), format: 'bounds' });
const networks = (description: string): SettingSchema<string[]> => ({ ...list([], description), format: 'networks' });

/** How the connection to a service of the cluster is encrypted. */
const tlsSettings = (service: string) => ({
  tls: oneOf(
    ['off', 'on'],
    'off',
    `Encrypts the connection to ${service} and verifies the server's certificate. Off sends passwords in clear.`,
  ),
  caFile: text(
    '',
    `PEM file with the certificate authorities that may issue ${service}'s certificate. Empty: those of the system.`,
  ),
  certFile: text('', `PEM file with the client certificate, if ${service} requires one.`),
  keyFile: text('', 'PEM file with the private key of the client certificate.'),
});

/** What a process of a cluster can do. An embedded node does everything. */
export const roles = ['ingest', 'pipeline', 'api', 'webhooks', 'analytics'] as const;
/** A part of the work that a node can be limited to. */
export type Role = (typeof roles)[number];

/** All settings: their defaults, rules and consequences. The reference in `docs/configuration.md` is made from it. */
export const configurationSchema = {
  port: count(8080, 'TCP port to listen on. 0 picks a free port.', { maximum: 65_535 }),
  host: requiredText(
    '127.0.0.1',
    'Address to listen on. 0.0.0.0 accepts connections from other machines: use TLS in front, because devices ' +
      'send keys.',
  ),
  data: requiredText(
    './data',
    'Folder with all data of an embedded node. In a cluster it contains only data that can be rebuilt. ' +
      'Each process needs its own folder.',
  ),
  backend: oneOf(
    ['embedded', 'cluster'],
    'embedded',
    'embedded stores everything in the data folder. cluster uses Kafka, Redis, ClickHouse and a schema registry.',
  ),
  roles: {
    type: 'array',
    format: 'roles',
    default: [...roles],
    description:
      'What this process of a cluster does: ingest accepts locations, pipeline evaluates them, api answers ' +
      'requests and draws maps, webhooks delivers events, analytics stores rows. Run as many processes of each ' +
      'role as needed.',
  } satisfies SettingSchema as SettingSchema<Role[]>,
  log: {
    level: oneOf(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'info',
      'Lowest level of lines that are written to standard error. debug adds a line per request.',
    ),
  },
  tracing: {
    endpoint: formatted(
      'url',
      '',
      'URL of an OpenTelemetry collector that takes OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces. It gets ' +
        'spans of requests, appends, evaluation and deliveries. Empty: off.',
    ),
    authorization: secretHeader('Value of the header Authorization of requests to the collector. Empty: none.'),
    samplePercent: count(
      100,
      'Share of requests that are traced. A higher value costs more time and memory in Fenceline and in the collector.',
      { maximum: 100 },
    ),
  },
  http: {
    trustedProxies: networks(
      'Addresses or CIDR blocks of proxies whose X-Forwarded-For is trusted. Geofences with `ip` ' +
        'use the resulting client address.',
    ),
    publicUrl: formatted(
      'url',
      '',
      'URL at which people reach this server, such as https://map.example.com, for links in mails and ' +
        'addresses in map styles. Empty: mails have the address that it listens on, which other machines may not ' +
        'reach; map styles have the address of the request.',
    ),
    maxBodyBytes: bytes(1_048_576, 'Maximum size of an ordinary request body. Larger bodies are answered 413.', {
      minimum: 65_536,
    }),
    maxReplayBodyBytes: bytes(5_242_880, 'Maximum body size of /v1/track/replay and /v1/logs.', { minimum: 65_536 }),
    bodyTimeoutMs: milliseconds(
      30_000,
      'Maximum time that a client may delay its request body, in addition to the time that minBodyBytesPerSecond ' +
        'grants. Slower requests are answered 408. Time during which the server reads slowly does not count.',
      { minimum: 1_000 },
    ),
    minBodyBytesPerSecond: bytes(
      1_000,
      'Each this many bytes extend the time limit of a body by a second, so an upload at this rate is never cut off.',
      { minimum: 1 },
    ),
    maxConnections: count(10_000, 'Maximum number of open connections. Further ones are answered 503 and closed.', {
      minimum: 1,
    }),
    maxConnectionsPerAddress: count(
      2_000,
      'Maximum number of open connections from one address, or one /64 of IPv6, except from trustedProxies. Further ' +
        'ones are answered 503 and closed. 0 removes the limit.',
    ),
    maxBufferedBodyBytes: bytes(
      268_435_456,
      'Memory of request bodies that have arrived in part or wait for their response. Further bodies of more than ' +
        '16 KiB are answered 503. One address, or one /64 of IPv6, may use a quarter of it. Uploads of files do not ' +
        'count.',
      { minimum: 1_048_576 },
    ),
    maxUnsentBytes: bytes(
      268_435_456,
      'Memory of answers that their clients have not read yet. Beyond it, large answers are replaced by 503. One ' +
        'address, or one /64 of IPv6, may use a quarter of it.',
      { minimum: 1_048_576 },
    ),
    readinessDelayMs: milliseconds(
      0,
      'On a stop, how long /health/ready answers 503 before the listener closes. Behind a load balancer, set it ' +
        'higher than the interval of its health checks, or it sends requests to a closed port.',
    ),
    drainTimeoutMs: milliseconds(
      10_000,
      'On a stop, how long open requests may take after the listener closed. Slower ones are cut off.',
      { minimum: 100 },
    ),
  },
  limits: {
    trackPerDevicePerSecond: count(
      10,
      'Maximum track calls per second of one device. Further ones are answered 429. 0 removes the limit.',
    ),
    trackPerKeyPerSecond: count(
      5_000,
      'Maximum track and replay calls per second of one key on one node. Further ones are answered 429. 0 ' +
        'removes the limit.',
    ),
    trackPerProjectPerSecond: count(
      10_000,
      'Maximum track and replay calls per second of all keys of one project on one node. Further ones are ' +
        'answered 429. 0 removes the limit.',
    ),
    locationsPerKeyPerSecond: count(
      20_000,
      'Maximum locations per second in track and replay calls of one key on one node. Further calls are answered ' +
        '429. Set it below the evaluation rate of a node, or one key can delay all projects. 0 removes the limit.',
    ),
    locationsPerProjectPerSecond: count(
      100_000,
      'Maximum locations per second of one project on one node, including bulk uploads. Further calls are ' +
        'answered 429, and uploads slow down. 0 removes the limit.',
    ),
    queryPerKeyPerSecond: count(
      1_000,
      'Maximum context, search and map calls per second of one key. Further ones are answered 429. 0 removes the ' +
        'limit.',
    ),
    mapCostPerKeyPerSecond: count(
      1_000,
      'Processor time that maps of one key may use, in milliseconds per second on average, with bursts of 30 ' +
        'times as much. Further calls are answered 429. Cached maps cost nothing. 0 removes the limit.',
    ),
    managementPerKeyPerSecond: count(
      1_000,
      'Maximum calls per second of one key on geofences, beacons, settings, users and events. Further ones are ' +
        'answered 429. 0 removes the limit.',
    ),
  },
  ingest: {
    replyTimeoutMs: milliseconds(
      2_000,
      'How long a track call waits for its events. Later events are missing in the response and follow on their ' +
        'topic.',
      { minimum: 10 },
    ),
    maxBacklogRecords: count(
      30_000,
      'Number of accepted but unevaluated locations above which bulk uploads slow down. A higher value makes ' +
        'track calls wait longer behind uploads.',
      { minimum: 1_000 },
    ),
    maxInFlightRecords: count(
      100_000,
      'Number of received but not yet durable locations above which requests are answered 503 with Retry-After. ' +
        'Limits memory while the log is slow.',
      { minimum: 1_000 },
    ),
  },
  locations: {
    partitions: count(
      4,
      'Number of partitions of the topics, and so the maximum number of processes that evaluate. Fixed when the ' +
        'data folder is created; a cluster can add partitions with `fenceline repartition`.',
      { minimum: 1, maximum: 1_024 },
    ),
    retentionDays: days(
      7,
      'How long accepted locations stay on their topic. It limits how far back a replay can go, and how long an ' +
        'outage of evaluation or analytics may last without loss.',
      { minimum: 1 },
    ),
    maxBatchRecords: count(
      5_000,
      'Maximum number of locations that are evaluated and committed together. A higher value increases ' +
        'throughput, a lower one reduces the latency of track calls.',
      { minimum: 1 },
    ),
    cachedDevices: count(
      200_000,
      'Number of device states kept decoded in memory, at about 1 kB each. Other states are read from the store.',
      { minimum: 1_000 },
    ),
  },
  storage: {
    minFreeBytes: bytes(
      536_870_912,
      'Free disk space of the data folder below which writes are answered 503, until there is a tenth more. ' +
        'Below half of it, evaluation, analytics and webhooks stop as well.',
      { minimum: 1_048_576 },
    ),
    minFreePercent: count(1, 'The same limit as a share of the disk. The larger of the two limits applies.', {
      maximum: 50,
    }),
  },
  events: {
    retentionDays: days(30, 'How long events stay on their topic. Subscribers that are away longer miss events.', {
      minimum: 1,
    }),
  },
  deadLetters: {
    maxPercent: count(
      50,
      'A partition halts when more than this share of its last 1,000 records (and at least 100) is unreadable. That ' +
        'points to a bad deployment rather than to bad data. 100 never halts: all of them become dead letters.',
      { maximum: 100 },
    ),
  },
  analytics: {
    maxBatchRows: count(
      50_000,
      'Maximum number of rows per insert into ClickHouse. A higher value needs more memory and makes fewer parts.',
      { minimum: 1_000 },
    ),
    flushIntervalMs: milliseconds(
      1_000,
      'Maximum time that rows are collected before an insert. A lower value makes data visible sooner, but ' +
        'creates more parts that ClickHouse has to merge.',
      { minimum: 50 },
    ),
    maxThreads: count(
      2,
      'Threads that the embedded engine may use for one query. More threads make large queries faster and take ' +
        'processor time from evaluation.',
      { minimum: 1 },
    ),
  },
  imports: {
    maxFileBytes: bytes(
      2_147_483_648,
      'Maximum size of an imported file after decompression. Larger files are answered 413. The file is kept in ' +
        'the data folder while it is imported.',
      { minimum: 1_048_576 },
    ),
    maxRows: count(
      2_000_000,
      'Maximum number of rows of an imported file. An import ends at this row. Each million rows take 34 MB of ' +
        'memory while they are imported, to recognise pairs that a file repeats.',
      { minimum: 1_000 },
    ),
    maxRunning: count(
      4,
      'Maximum number of imports that run at the same time on one node, of different projects. Further ones are ' +
        'answered 503. Each takes a share of the processor from all other requests.',
      { minimum: 1 },
    ),
  },
  webhooks: {
    allowedNetworks: networks(
      'CIDR blocks that webhooks may be sent to although they are private, loopback or otherwise reserved. Empty: ' +
        'Fenceline never connects to such addresses, so webhooks cannot reach internal services.',
    ),
    timeoutMs: milliseconds(
      15_000,
      'Maximum time of an attempt, from resolving the name to the response. A slower attempt counts as failed ' +
        'and is retried.',
      { minimum: 100, maximum: 120_000 },
    ),
    retrySchedule: seconds(
      ['5', '300', '1800', '7200', '18000', '36000', '36000'],
      'Seconds from a failed attempt to each retry. A delivery is discarded when the last retry fails.',
    ),
    maxConcurrencyPerEndpoint: count(
      16,
      'Maximum number of concurrent requests to one webhook. A failing webhook gets one request at a time until it ' +
        'succeeds.',
      { minimum: 1 },
    ),
    maxConcurrency: count(
      2_000,
      'Maximum number of concurrent requests to all webhooks. When slow receivers use them up, other deliveries wait.',
      { minimum: 1 },
    ),
    maxPerEnvironment: count(
      1_000,
      'Maximum number of webhooks per project and environment. Creating more is refused.',
      { minimum: 1 },
    ),
    deliveryRetentionDays: days(
      14,
      'How long a delivery stays pending, for example for a disabled webhook. After that it is discarded.',
      { minimum: 1 },
    ),
  },
  demo: {
    enabled: oneOf(
      ['on', 'off'],
      'on',
      'on lets owners start a simulated fleet in the test environment of a project. It has a few hundred geofences, ' +
        'and sends 20 locations a second for ten minutes. off refuses that.',
    ),
  },
  signup: {
    enabled: oneOf(
      ['off', 'on'],
      'off',
      'on lets everybody who reaches this server create an account with a project. With off, accounts are created by ' +
        'invitation only, and the first owner signs in by a one-time link.',
    ),
    confirmation: oneOf(
      ['off', 'mail'],
      'off',
      'mail creates an account only after the link in a mail was used, so strangers cannot find out who has an ' +
        'account. off creates it at once and refuses an address that has one. Use mail on the internet.',
    ),
  },
  accounts: {
    sessionIdleMinutes: count(
      480,
      'Time without a request after which a browser is signed out. A higher value is more convenient, but leaves ' +
        'forgotten browsers signed in for longer.',
      { minimum: 1, maximum: 43_200 },
    ),
    sessionMaxHours: count(168, 'Time after which a browser is signed out, however much it is used.', {
      minimum: 1,
      maximum: 8_760,
    }),
    secureCookies: oneOf(
      ['auto', 'always'],
      'auto',
      'auto marks the session cookie as Secure when the request came over TLS, directly or by a trusted proxy. ' +
        'always does so for every request, for a proxy that does not report TLS. Then nobody can sign in without TLS.',
    ),
    signInAttemptsPerAddress: count(
      20,
      'Maximum number of attempts to sign in to one mail address in 15 minutes, on all nodes. Further ones are ' +
        'answered 429. A lower value lets strangers lock an account with fewer attempts.',
      { minimum: 1 },
    ),
    signInAttemptsPerClient: count(
      100,
      'Maximum number of attempts to sign in from one IP address, or one /64 of IPv6, in 15 minutes, on all nodes. ' +
        'Behind a proxy that is not in http.trustedProxies, all clients count as one.',
      { minimum: 1 },
    ),
  },
  plans: {
    enabled: oneOf(
      ['off', 'on'],
      'off',
      'on requires the enterprise plan to create beacons. Projects have the basic plan until the admin API sets ' +
        'another. off: every project may use everything.',
    ),
  },
  sync: {
    time: formatted(
      'timeOfDay',
      '02:00',
      'Time of the day, as HH:mm, at which the files of all nightly syncs are read. A missed night is made up for at ' +
        'the next start.',
    ),
    timeZone: formatted('timeZone', 'UTC', 'IANA time zone of sync.time, such as Europe/Berlin.'),
    allowedNetworks: networks(
      'CIDR blocks that files may be read from although they are private, loopback or otherwise reserved. Empty: ' +
        'Fenceline never connects to such addresses, so a sync cannot read internal services.',
    ),
    timeoutMs: milliseconds(
      600_000,
      'Maximum time to read one file, from resolving the name to the last byte. A slower file is tried again twice, ' +
        'then the run fails.',
      { minimum: 1_000 },
    ),
    maxBytes: bytes(
      1_073_741_824,
      'Maximum size of all files of one run together, decompressed. They are on disk during the run, in the folder ' +
        'sync of the data folder; a node runs two syncs at a time. Runs with larger files fail.',
      { minimum: 1_024 },
    ),
  },
  mail: {
    host: text(
      '',
      'SMTP server that sends mails: invitations, password resets and notifications. Empty: mails are written to ' +
        'mail.outbox, and nobody receives them.',
    ),
    port: count(587, 'Port of the SMTP server: usually 587 for starttls, 465 for on.', { minimum: 1, maximum: 65_535 }),
    tls: oneOf(
      ['starttls', 'on', 'off'],
      'starttls',
      'starttls encrypts after the greeting, on from the start. Both refuse a server without a valid certificate. ' +
        'off sends mails in clear, and so the one-time tokens in them.',
    ),
    username: text('', 'User for the login to the SMTP server. Empty: no login.'),
    password: secret('Password of the SMTP user.'),
    passwordFile: text('', 'File with the password of the SMTP user, for mounted secrets. It excludes mail.password.'),
    caFile: text(
      '',
      "PEM file with the certificate authorities that may have issued the SMTP server's certificate. Empty: those " +
        'of the system.',
    ),
    sender: text(
      '',
      'Address that mails are sent from. mail.host requires it. The SMTP server must accept it, or recipients ' +
        'get nothing.',
    ),
    timeoutMs: milliseconds(
      20_000,
      'Maximum time of an attempt to send a mail. Attempts that may succeed later are repeated twice.',
      { minimum: 100, maximum: 300_000 },
    ),
    outbox: text(
      '',
      'Folder for mails without an SMTP server, one .eml file each. Empty: outbox in the data folder. The files ' +
        'contain one-time tokens.',
    ),
    outboxMaxMails: count(1_000, 'Number of mails that the outbox keeps. Beyond it the oldest are deleted.', {
      minimum: 1,
    }),
  },
  maps: {
    archive: text(
      '',
      'Map data: the path of a PMTiles or MBTiles file, the URL of a PMTiles file or of TileJSON, or a tile URL ' +
        'with {z}, {x} and {y}. Empty: the built-in basemap, which has countries, waters and places, but no ' +
        'streets.',
    ),
    archiveAttribution: text(
      '',
      'Attribution shown in the corner of maps if the archive or TileJSON has none. Most map data requires it.',
    ),
    archiveMaxZoom: count(
      14,
      'Maximum zoom of a tile URL without TileJSON. Tiles are enlarged beyond it. If it is too high, tiles are ' +
        'missing; if it is too low, maps lack detail.',
      { maximum: 24 },
    ),
    workers: count(
      0,
      'Maximum number of drawing processes, at 150 to 900 MB each. They start with the first map. If there are ' +
        'several, one is reserved for small maps. 0: one less than the number of processors, and at most one for ' +
        'each GiB of memory, but at least two.',
      { maximum: 64 },
    ),
    timeoutMs: milliseconds(
      15_000,
      'Maximum time to draw one map. A slower drawing process is replaced. After three times this long, ' +
        'including the time in the queue, the request is answered 503.',
      { minimum: 100, maximum: 100_000 },
    ),
    maxPixelsInFlight: count(
      100_000_000,
      'Maximum number of pixels of all queued and active maps. Further requests are answered 503 with ' +
        'Retry-After. A map of 600 by 400 at scale 2 has 960,000 pixels, the largest one 37,748,736.',
      { minimum: 100_000 },
    ),
    maxCacheBytes: bytes(67_108_864, 'Maximum size of the in-memory cache of images. A cached map is not drawn again.'),
    maxStylesPerEnvironment: count(
      20,
      'Maximum number of uploaded styles per project and environment. Further uploads are refused.',
      { minimum: 1 },
    ),
    maxMarkersPerEnvironment: count(
      100,
      'Maximum number of uploaded markers per project and environment. Further uploads are refused.',
      { minimum: 1 },
    ),
    allowedNetworks: networks(
      'CIDR blocks from which icons of markers and sprites of styles may be fetched although they are private, ' +
        'loopback or otherwise reserved. Everybody with a publishable key can choose the URL of an icon.',
    ),
  },
  geocoding: {
    provider: oneOf(
      ['gazetteer', 'nominatim', 'photon', 'pelias', 'none'],
      'gazetteer',
      'Finds addresses of geofences and answers geocoding calls. gazetteer is built in and knows names of cities, ' +
        'towns and villages, but no streets. nominatim, photon and pelias ask the service at geocoding.url. none ' +
        'refuses addresses.',
    ),
    url: formatted(
      'url',
      '',
      'Base URL of the geocoding service, such as http://127.0.0.1:2322 for Photon. It may be private.',
    ),
    apiKey: secret('Key of the geocoding service, sent as api_key. Empty: none.'),
    contact: formatted(
      'header',
      '',
      'Email address or URL of the operator, sent in the User-Agent. Public services require it to tell who asks.',
    ),
    timeoutMs: milliseconds(
      5_000,
      'Maximum time of a request to the geocoding service. A slower one fails; a geofence with coordinates is then ' +
        'stored with a warning.',
      { minimum: 100, maximum: 60_000 },
    ),
    maxRequestsPerSecond: count(
      1,
      'Maximum requests per second to the geocoding service by all processes of the installation. The public ' +
        'instances allow 1. A higher value makes imports of addresses faster. 0 removes the limit.',
    ),
    maxWaitMs: milliseconds(
      30_000,
      'Maximum time that a request waits for its turn under maxRequestsPerSecond. Longer waits are answered 503.',
    ),
    maxCachedAnswers: count(
      10_000,
      'Number of answers of the geocoding service that each process keeps in memory, at about 2 kB each.',
    ),
    cacheHours: count(24, 'How long an answer is kept. A longer time saves requests, a shorter one follows new data.'),
    ipDatabase: text(
      '',
      'Path of a MaxMind DB file with cities, such as GeoLite2-City.mmdb, for geocoding by IP address. A replaced ' +
        'file is read within a minute. Empty: these calls are answered not_available.',
    ),
  },
  routing: {
    provider: oneOf(
      ['embedded', 'valhalla', 'openrouteservice', 'graphhopper', 'none'],
      'embedded',
      'Provider of isochrones, route distances and matrices: the embedded router on the road data of ' +
        '`fenceline roads build`, or a service at routing.url. Without road data, or with none, such calls are ' +
        'answered not_available.',
    ),
    url: formatted('url', '', 'URL of the service, for example http://127.0.0.1:8002. The embedded router ignores it.'),
    apiKey: secretHeader('API key of the service, if it requires one.'),
    dataFolder: text(
      '',
      'Folder with the road data of the embedded router. Nodes of a cluster may share it. Empty: `roads` in the data ' +
        'folder.',
    ),
    bounds: bounds(
      'West, south, east and north of the road data of a service, in degrees. An isochrone that reaches them is ' +
        'refused. Empty: the edge of its data is not known, and may cut isochrones silently.',
    ),
    timeoutMs: milliseconds(
      10_000,
      'Maximum time of an isochrone or a route, including its wait. Slower requests are answered 503.',
      { minimum: 100, maximum: 60_000 },
    ),
    maxConcurrency: count(
      2,
      'Maximum number of isochrones and routes that a process computes at once. Further ones wait; projects share ' +
        'the places equally.',
      { minimum: 1, maximum: 64 },
    ),
    maxWaitingPerProject: count(
      100,
      'Maximum number of isochrones and routes of one project that wait. Further ones are answered 503 with ' +
        'Retry-After.',
      { minimum: 1 },
    ),
  },
  kafka: {
    brokers: list(['127.0.0.1:9092'], 'Addresses of some brokers, as host:port. The others are discovered.'),
    prefix: text(
      'fenceline.',
      'Prefix of all topics and consumer groups. Use different prefixes to share brokers between installations.',
    ),
    replicationFactor: count(
      -1,
      "Replicas of new topics. -1 uses the brokers' default. With 3, the loss of a broker loses no data.",
      { minimum: -1, maximum: 100 },
    ),
    minInSyncReplicas: count(
      0,
      'Replicas that must store a record before it counts as accepted, for new topics. 0 uses 2 if ' +
        "replicationFactor is 3 or more, else 1; if replicationFactor is -1, it uses the brokers' default.",
      { maximum: 100 },
    ),
    sessionTimeoutMs: milliseconds(
      15_000,
      'Time without a heartbeat after which a consumer loses its partitions. A lower value shortens the pause ' +
        'after a crash, but a busy process may lose partitions.',
      { minimum: 1_000, maximum: 300_000 },
    ),
    stallTimeoutMs: milliseconds(
      180_000,
      'Time after which a process exits if one of its partitions has records but makes no progress.',
      { minimum: 10_000 },
    ),
    saslMechanism: oneOf(
      ['none', 'plain', 'scram-sha-256', 'scram-sha-512'],
      'none',
      'SASL mechanism of the login to Kafka. plain requires tls, because it sends the password in clear.',
    ),
    username: text('', 'User for the login to Kafka.'),
    password: secret('Password of the Kafka user.'),
    ...tlsSettings('Kafka'),
  },
  registry: {
    url: formatted('url', 'http://127.0.0.1:8081', 'URL of the Confluent-compatible API of the schema registry.'),
    username: text('', 'User of the schema registry. Empty: no login.'),
    password: secret('Password of the registry user.'),
    caFile: text(
      '',
      "PEM file with the certificate authorities that may have issued the registry's certificate. Empty: those " +
        'of the system.',
    ),
  },
  redis: {
    nodes: list(['127.0.0.1:6379'], 'Address of the Redis server, or of some nodes of a Redis Cluster, as host:port.'),
    mode: oneOf(
      ['single', 'cluster'],
      'single',
      'single uses one server. cluster distributes the partitions over the nodes of a Redis Cluster.',
    ),
    prefix: text(
      'fenceline:',
      'Prefix of all keys and channels. Use different prefixes to share a Redis between installations.',
    ),
    username: text('', 'ACL user. Empty: the default user.'),
    password: secret('Password of the Redis user.'),
    connectTimeoutMs: milliseconds(5_000, 'Maximum time to open a connection.', { minimum: 100 }),
    commandTimeoutMs: milliseconds(10_000, 'Time after which a command counts as failed and is retried.', {
      minimum: 100,
    }),
    stateRetentionDays: days(
      90,
      'Time after which the state of an inactive device is deleted. Its next location counts as its first, so it ' +
        'does not exit geofences that it was in. 0 keeps states forever.',
    ),
    ...tlsSettings('Redis'),
  },
  clickhouse: {
    url: formatted(
      'url',
      'http://127.0.0.1:8123',
      "URL of ClickHouse's HTTP interface. https encrypts the connection.",
    ),
    database: text('fenceline', "Database of Fenceline's tables. It is created if it does not exist."),
    username: text('default', 'User for the login to ClickHouse.'),
    password: secret('Password of the ClickHouse user.'),
    caFile: text(
      '',
      "PEM file with the certificate authorities that may have issued ClickHouse's certificate. Empty: those of the " +
        'system.',
    ),
    requestTimeoutMs: milliseconds(
      60_000,
      'Maximum time of an insert or a query. Queries of the API take at most 20 s.',
      {
        minimum: 21_000,
      },
    ),
    cluster: text(
      '',
      "Name of a cluster in ClickHouse's configuration. Tables are then replicated and distributed over its shards. " +
        'Empty: one server.',
    ),
  },
  expiry: {
    intervalMs: milliseconds(
      15_000,
      'Interval of the search for geofences whose deleteAfter has passed. A higher value deletes them later.',
      { minimum: 100 },
    ),
    retentionDays: days(
      14,
      'How long a geofence is kept after its deleteAfter to evaluate late locations from before. Locations may ' +
        'be 7 days old, and wait up to locations.retentionDays. No API shows the geofence during that time.',
    ),
  },
} as const;

type ConfigurationOf<Schema> =
  Schema extends SettingSchema<infer Value>
    ? Value
    : { readonly [Name in keyof Schema]: ConfigurationOf<Schema[Name]> };

/** The settings of a process, checked and frozen. Every default is filled in. */
export type Configuration = ConfigurationOf<typeof configurationSchema>;
