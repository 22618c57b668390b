/**
 * Turns the configuration into connection options for the services of a cluster: parses addresses, reads certificate
 * files, and refuses contradictions. All problems are reported at once, each with its key.
 */
import type {
  ClickHouseOptions,
  KafkaOptions,
  RedisOptions,
  RegistryOptions,
  TlsOptions,
} from '../backends/cluster/options.js';
import { topics } from '../pipeline/ports.js';
import { dayMs } from '../schemas/durations.js';
import type { Configuration } from './config/schema.js';
import { ConfigurationError } from './failures.js';
import { readPemFile } from './pem-file.js';

/** How a process reaches each service of a cluster. */
export interface ServiceOptions {
  readonly kafka: KafkaOptions;
  readonly registry: RegistryOptions;
  readonly redis: RedisOptions;
  readonly clickHouse: ClickHouseOptions;
  /** Time after which the state of an inactive device is deleted; 0: never. */
  readonly stateRetentionMs: number;
}

type ServiceOptionsResult =
  | { readonly ok: true; readonly options: ServiceOptions }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Returns the options, or all problems. */
export function clusterOptions(configuration: Configuration): ServiceOptionsResult {
  const problems: string[] = [];
  const report = (key: string, rule: string): void => {
    problems.push(`${key}: ${rule}`);
  };
  const options: ServiceOptions = {
    kafka: kafkaOptions(configuration, report),
    registry: registryOptions(configuration, report),
    redis: redisOptions(configuration, report),
    clickHouse: clickHouseOptions(configuration, report),
    stateRetentionMs: configuration.redis.stateRetentionDays * dayMs,
  };
  return problems.length > 0 ? { ok: false, problems } : { ok: true, options };
}

/** Throws a ConfigurationError that lists every problem. */
export function clusterOptionsOrRefuse(configuration: Configuration): ServiceOptions {
  const given = clusterOptions(configuration);
  if (given.ok) return given.options;
  throw new ConfigurationError(given.problems);
}

type Report = (key: string, rule: string) => void;

function kafkaOptions({ kafka, locations, events }: Configuration, report: Report): KafkaOptions {
  const { brokers, prefix, replicationFactor, minInSyncReplicas, sessionTimeoutMs, stallTimeoutMs, saslMechanism } =
    kafka;
  addresses('kafka.brokers', brokers, report);
  // kafkajs splits an address at its first colon.
  if (brokers.some((broker) => broker.startsWith('[')))
    report('kafka.brokers', 'must be names or IPv4 addresses; a name may resolve to an IPv6 address');
  if (replicationFactor === 0) report('kafka.replicationFactor', "must be 1 or more, or -1 for the brokers' default");
  if (saslMechanism === 'plain' && kafka.tls === 'off')
    report('kafka.saslMechanism', 'plain sends the password in clear: it requires kafka.tls');
  if (saslMechanism !== 'none' && !(kafka.username && kafka.password)) {
    report('kafka.saslMechanism', 'requires kafka.username and kafka.password');
  }
  const retentionMs = {
    [topics.locations]: locations.retentionDays * dayMs,
    [topics.outcomes]: locations.retentionDays * dayMs,
    [topics.events]: events.retentionDays * dayMs,
  };
  return {
    brokers,
    clientId: 'fenceline',
    prefix,
    partitions: locations.partitions,
    replicationFactor,
    minInSyncReplicas,
    retentionMs,
    sessionTimeoutMs,
    stallTimeoutMs,
    ...tlsOptions('kafka', kafka, report),
    ...(saslMechanism !== 'none' && {
      sasl: { mechanism: saslMechanism, username: kafka.username, password: kafka.password },
    }),
  };
}

function registryOptions({ registry }: Configuration, report: Report): RegistryOptions {
  refusePassword('registry.url', registry.url, report);
  return { url: registry.url, ...login(registry), ...authorities('registry', registry, report) };
}

function redisOptions({ redis }: Configuration, report: Report): RedisOptions {
  const { nodes, mode, prefix, connectTimeoutMs, commandTimeoutMs } = redis;
  if (mode === 'single' && nodes.length > 1) report('redis.nodes', 'must be one server unless redis.mode is cluster');
  return {
    nodes: addresses('redis.nodes', nodes, report),
    isCluster: mode === 'cluster',
    prefix,
    connectTimeoutMs,
    commandTimeoutMs,
    ...login(redis),
    ...tlsOptions('redis', redis, report),
  };
}

function clickHouseOptions({ clickhouse }: Configuration, report: Report): ClickHouseOptions {
  const { url, database, requestTimeoutMs, cluster } = clickhouse;
  refusePassword('clickhouse.url', url, report);
  return {
    url,
    database,
    requestTimeoutMs,
    ...login(clickhouse),
    ...authorities('clickhouse', clickhouse, report),
    ...(cluster !== '' && { cluster }),
  };
}

function addresses(key: string, given: readonly string[], report: Report): { host: string; port: number }[] {
  if (given.length === 0) report(key, 'must have at least one address');
  return given.map((address) => {
    const match = /^(?<host>[^\s:]+|\[[0-9a-f:.]+\]):(?<port>\d{1,5})$/i.exec(address);
    const port = Number(match?.groups?.port);
    if (!match || port < 1 || port > 65_535) report(key, `must be host:port; ${JSON.stringify(address)} is not`);
    return { host: match?.groups?.host?.replace(/^\[|\]$/g, '') ?? '', port };
  });
}

function refusePassword(key: string, url: string, report: Report): void {
  const { username, password } = new URL(url);
  if (username || password) report(key, 'must not contain a password; use the settings for user and password');
}

const login = ({ username, password }: { username: string; password: string }) => ({
  ...(username !== '' && { username }),
  ...(password !== '' && { password }),
});

interface TlsSettings {
  readonly tls: string;
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

function tlsOptions(
  section: string,
  { tls, caFile, certFile, keyFile }: TlsSettings,
  report: Report,
): { tls?: TlsOptions } {
  if (tls === 'off') {
    if (caFile || certFile || keyFile) report(`${section}.tls`, 'must be on if certificates are given');
    return {};
  }
  if ((certFile === '') !== (keyFile === ''))
    report(`${section}.certFile`, `requires ${section}.keyFile, and the other way round`);
  const ca = pemFile(`${section}.caFile`, caFile, report);
  const cert = pemFile(`${section}.certFile`, certFile, report);
  const key = pemFile(`${section}.keyFile`, keyFile, report);
  return { tls: { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) } };
}

function authorities(section: string, { caFile }: { caFile: string }, report: Report): { tls?: TlsOptions } {
  const ca = pemFile(`${section}.caFile`, caFile, report);
  return ca === undefined ? {} : { tls: { ca } };
}

function pemFile(key: string, path: string, report: Report): string | undefined {
  if (path === '') return undefined;
  const read = readPemFile(path);
  if (read.ok) return read.text;
  report(key, read.rule);
  return undefined;
}
