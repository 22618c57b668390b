/** Redis for tests: one server, or a cluster of three masters, with a replica each where a test asks for it. */
import { until } from '../until.js';
import type { ServerTls } from './certificates.js';
import { type RedisConnection, withRedis } from './clients.js';
import { type Address, freePorts, loopback } from './ports.js';
import { run } from './provider.js';
import { type Program, type Server, type Software, startTimeoutMs, together } from './server.js';

interface RedisSettings {
  /**
   * When writes are synced to disk. Default `never`: only snapshots by SAVE survive the process. With `everysec`, a
   * kill loses what waited for a slow sync, although clients had its reply.
   */
  readonly appendfsync?: 'always' | 'everysec' | 'never';
  readonly tls?: ServerTls;
  /** Given at all, nobody else gets in. */
  readonly users?: Readonly<Record<string, RedisUser>>;
  /** Bytes, or Redis' notation `64mb`. Nothing is evicted: writes beyond the limit are refused. */
  readonly maxmemory?: number | string;
}

interface RedisUser {
  readonly password: string;
  /** Redis ACL rules. Default all permissions. */
  readonly rules?: string;
}

/** A running server. */
export interface RedisServer extends Server, Address {
  readonly version: string;
}

/** A running cluster. */
export interface RedisClusterServer extends Server {
  /** The masters, one by one. Actions on the cluster apply to all masters and replicas. */
  readonly nodes: readonly (Server & Address)[];
  /** Of the masters, in their order; empty where none were asked for. */
  readonly replicas: readonly (Server & Address)[];
  readonly version: string;
}

/** Where the server comes from. */
export const redis: Software = { name: 'redis', commands: ['redis-server'], image: 'redis:7' };

/** Starts a single server. Resolves when it answers. */
export async function startRedis(settings: RedisSettings = {}): Promise<RedisServer> {
  const [port] = (await freePorts(1)) as [number];
  const connection = connectionOf(port, settings);
  const [server] = (await run([programOf([port], configurationOf(port, settings), connection, settings.tls)])) as [
    Server,
  ];
  return Object.assign(server, { host: loopback, port, version: await versionOf(connection) });
}

/** Starts a cluster of masters, with a replica of each if told so. Resolves when all slots are served. */
export async function startRedisCluster({
  hasReplicas = false,
  nodeTimeoutMs = patientNodeTimeoutMs,
} = {}): Promise<RedisClusterServer> {
  const count = hasReplicas ? 2 * masters : masters;
  const ports = await freePorts(2 * count);
  const addresses = Array.from({ length: count }, (_, index): ClusterAddress => {
    const [port, busPort] = ports.slice(2 * index) as [number, number];
    return { host: loopback, port, busPort };
  });
  const servers = await run(addresses.map((address) => clusterProgramOf(address, nodeTimeoutMs)));
  const server = together(servers);
  try {
    await join(addresses.slice(0, masters), addresses.slice(masters));
    const all = servers.map((node, index) => Object.assign(node, { host: loopback, port: addresses[index]!.port }));
    const version = await versionOf(connectionOf(addresses[0]!.port));
    return Object.assign(server, { nodes: all.slice(0, masters), replicas: all.slice(masters), version });
  } catch (error) {
    await server.stop();
    throw error;
  }
}

const masters = 3;
const slots = 16_384;
/**
 * A node that does not answer within this time counts as failed. Long, so that none fails because the machine is busy:
 * its replica would take over, without its newest changes.
 */
const patientNodeTimeoutMs = 15_000;
/** For tests that wait for a node to count as failed. */
export const shortNodeTimeoutMs = 2_000;

interface ClusterAddress extends Address {
  readonly busPort: number;
}

type Configuration = readonly string[];

function programOf(
  ports: readonly number[],
  configuration: Configuration,
  connection: RedisConnection,
  tls?: ServerTls,
): Program {
  return {
    software: redis,
    ports,
    files: { 'redis.conf': `${configuration.join('\n')}\n`, ...certificateFiles(tls) },
    script: 'exec redis-server redis.conf --bind "$BIND"',
    ping: () => withRedis(connection, (client) => client.ping()),
  };
}

function configurationOf(port: number, settings: RedisSettings): Configuration {
  const { tls, users = {}, appendfsync = 'never', maxmemory } = settings;
  const accounts = Object.entries(users).map(
    ([name, { password, rules = '~* &* +@all' }]) => `user ${name} on >${password} ${rules}`,
  );
  return [
    ...(tls ? tlsConfigurationOf(port, tls) : [`port ${port}`]),
    // From within a container we are strangers without a password; processes listen on the loopback address only.
    'protected-mode no',
    'save ""',
    ...(appendfsync === 'never' ? ['appendonly no'] : ['appendonly yes', `appendfsync ${appendfsync}`]),
    ...(accounts.length > 0 ? ['user default off', ...accounts] : []),
    ...(maxmemory === undefined ? [] : [`maxmemory ${maxmemory}`]),
  ];
}

const tlsConfigurationOf = (port: number, { demandsClientCertificate }: ServerTls): Configuration => [
  'port 0',
  `tls-port ${port}`,
  'tls-cert-file server.pem',
  'tls-key-file server.key',
  'tls-ca-cert-file authority.pem',
  `tls-auth-clients ${demandsClientCertificate ? 'yes' : 'no'}`,
];

function certificateFiles(tls: ServerTls | undefined): Record<string, string> {
  if (!tls) return {};
  const { ca, server } = tls.certificates;
  return { 'authority.pem': ca, 'server.pem': server.cert, 'server.key': server.key };
}

function clusterProgramOf({ port, busPort }: ClusterAddress, nodeTimeoutMs: number): Program {
  const cluster = ['cluster-enabled yes', `cluster-port ${busPort}`, `cluster-node-timeout ${nodeTimeoutMs}`];
  const announced = [`cluster-announce-ip ${loopback}`];
  return programOf([port, busPort], [...configurationOf(port, {}), ...cluster, ...announced], connectionOf(port));
}

/** Gives each master its share of the slots, makes all nodes known to each other, and gives each master its replica. */
async function join(addresses: readonly ClusterAddress[], replicas: readonly ClusterAddress[]): Promise<void> {
  const ask = async (address: ClusterAddress, ...words: (string | number)[]) =>
    String(await withRedis(connectionOf(address.port), (client) => client.call('CLUSTER', ...words)));
  const slotOf = (index: number) => Math.floor((slots * index) / addresses.length);
  for (const [index, address] of addresses.entries()) {
    await ask(address, 'SET-CONFIG-EPOCH', index + 1);
    await ask(address, 'ADDSLOTSRANGE', slotOf(index), slotOf(index + 1) - 1);
    await ask(addresses[0]!, 'MEET', address.host, address.port, address.busPort);
  }
  const isJoined = async (address: ClusterAddress) => {
    const info = await ask(address, 'INFO');
    return info.includes('cluster_state:ok') && info.includes(`cluster_size:${addresses.length}`);
  };
  await until(async () => (await Promise.all(addresses.map(isJoined))).every(Boolean), { timeoutMs: startTimeoutMs });
  for (const { host, port, busPort } of replicas) await ask(addresses[0]!, 'MEET', host, port, busPort);
  const masterIds = await Promise.all(addresses.map((address) => ask(address, 'MYID')));
  for (const [index, replica] of replicas.entries()) {
    // Refused until the replica has heard of its master.
    const follows = async () => (await ask(replica, 'REPLICATE', masterIds[index]!).catch(() => '')) === 'OK';
    await until(follows, { timeoutMs: startTimeoutMs });
  }
  const isUpToDate = async ({ port }: ClusterAddress) =>
    (await withRedis(connectionOf(port), (client) => client.info('replication'))).includes('master_link_status:up');
  await until(async () => (await Promise.all(replicas.map(isUpToDate))).every(Boolean), { timeoutMs: startTimeoutMs });
}

/** How the starter itself gets in: as the first user. */
function connectionOf(port: number, { tls, users = {} }: RedisSettings = {}): RedisConnection {
  const [user] = Object.entries(users);
  return {
    host: loopback,
    port,
    ...(user && { username: user[0], password: user[1].password }),
    ...(tls && { tls: { ca: tls.certificates.ca, ...tls.certificates.client } }),
  };
}

async function versionOf(connection: RedisConnection): Promise<string> {
  const info = await withRedis(connection, (client) => client.info('server'));
  return /redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown';
}
