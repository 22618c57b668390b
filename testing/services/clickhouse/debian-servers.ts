/**
 * ClickHouse's own servers as Debian 12 has them (release 18.16, of 2018), and a ZooKeeper, as processes.
 *
 * They are too old for our tables and queries, but have what the front lacks: access control, statements on a cluster,
 * and replication. `inTheWordsOf2018` rewrites statements for them. ZooKeeper comes with Kafka's release.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ServerTls } from '../certificates.js';
import { kafka } from '../kafka.js';
import { freePorts, loopback } from '../ports.js';
import { isHere, run } from '../provider.js';
import { type Program, type Server, type Software, together } from '../server.js';
import type { ClickHouseAddress } from './clickhouse.js';

/** A running server of 2018. */
export interface DebianServer extends Server, ClickHouseAddress {}

/** Running servers that replicate. */
export interface DebianCluster extends Server {
  readonly name: string;
  /** Each shard's replicas, which have the same rows. */
  readonly shards: readonly (readonly DebianServer[])[];
}

const software: Software = { name: 'clickhouse-of-debian', commands: ['clickhouse-server'], image: '' };
const username = 'fenceline';
const clusterName = 'main';
const replicaCount = 2;
const pingTimeoutMs = 1_000;

/** Returns whether the servers are installed. They are not available where only Docker is. */
export const areDebianServersHere = (): boolean => isHere(software) && isHere(kafka);

interface Ports {
  readonly http: number;
  readonly tcp: number;
  readonly interserver: number;
}

/** A server's settings in a cluster. */
interface Membership {
  readonly shard: number;
  readonly replica: number;
  /** Of all shards' replicas. */
  readonly ports: readonly (readonly Ports[])[];
  readonly zookeeperPort: number;
}

interface Settings {
  readonly ports: Ports;
  readonly password: string;
  readonly tls?: ServerTls;
  readonly membership?: Membership;
}

const newPassword = (): string => randomBytes(12).toString('hex');

/** Starts a single server, over TLS if told so. */
export async function startDebianServer(tls?: ServerTls): Promise<DebianServer> {
  const [ports] = (await newPorts(1)) as [Ports];
  const [server] = (await startAll([{ ports, password: newPassword(), ...(tls && { tls }) }])) as [DebianServer];
  return server;
}

/** Starts a cluster of so many shards, of two replicas each. */
export async function startDebianCluster(shardCount: number): Promise<DebianCluster> {
  const all = await newPorts(shardCount * replicaCount);
  const ports = Array.from({ length: shardCount }, (_, shard) =>
    all.slice(replicaCount * shard, replicaCount * (shard + 1)),
  );
  const [zookeeperPort] = (await freePorts(1)) as [number];
  const password = newPassword();
  const membership = (index: number): Membership => {
    const [shard, replica] = [Math.floor(index / replicaCount) + 1, (index % replicaCount) + 1];
    return { shard, replica, ports, zookeeperPort };
  };
  const [zookeeper] = (await run([zookeeperProgram(zookeeperPort)])) as [Server];
  const servers = await startAll(all.map((own, index) => ({ ports: own, password, membership: membership(index) })));
  const shards = ports.map((_, shard) => servers.slice(replicaCount * shard, replicaCount * (shard + 1)));
  return Object.assign(together([...servers, zookeeper]), { name: clusterName, shards });
}

async function newPorts(servers: number): Promise<Ports[]> {
  const free = await freePorts(3 * servers);
  return Array.from({ length: servers }, (_, index) => {
    const [http, tcp, interserver] = free.slice(3 * index) as [number, number, number];
    return { http, tcp, interserver };
  });
}

function zookeeperProgram(port: number): Program {
  const lines = [
    ...[
      'tickTime=500',
      'dataDir=data',
      `clientPort=${port}`,
      `clientPortAddress=${loopback}`,
      'admin.enableServer=false',
    ],
    '4lw.commands.whitelist=srvr',
  ];
  const java = `java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$${kafka.folder!.variable}/*"`;
  return {
    software: kafka,
    ports: [port],
    files: { 'zoo.cfg': `${lines.join('\n')}\n` },
    script: `exec ${java} org.apache.zookeeper.server.quorum.QuorumPeerMain zoo.cfg`,
    ping: () => serves(port),
  };
}

async function startAll(settings: readonly Settings[]): Promise<DebianServer[]> {
  // Servers that create the queue of the cluster's statements at the same time crash, so the first starts alone.
  const [first, ...others] = settings.map(programOf);
  const servers = await run([first!]);
  if (others.length > 0) servers.push(...(await run(others)));
  return servers.map((server, index) => {
    const { ports, password, tls } = settings[index]!;
    return Object.assign(server, { url: `${tls ? 'https' : 'http'}://${loopback}:${ports.http}`, username, password });
  });
}

function programOf(settings: Settings): Program {
  const { ports, password, tls } = settings;
  return {
    software,
    ports: Object.values(ports),
    files: {
      'config.xml': configuration(settings),
      'users.xml': users(password),
      ...(tls && { 'server.pem': tls.certificates.server.cert, 'server.key': tls.certificates.server.key }),
    },
    script: 'mkdir -p data tmp; exec clickhouse-server --config-file=config.xml',
    ping: () => (tls ? listens(ports.http) : answers(ports.http)),
  };
}

/** A ZooKeeper that listens and doesn't serve yet makes these servers crash. */
async function serves(port: number): Promise<void> {
  const socket = connect(port, loopback)
    .setEncoding('utf8')
    .setTimeout(pingTimeoutMs, () => socket.destroy());
  socket.end('srvr');
  const answer = await text(socket);
  if (!answer.includes('Mode: standalone')) throw new Error(`ZooKeeper answers ${answer}`);
}

/** A server that listens may still end while it starts. */
async function answers(port: number): Promise<void> {
  const signal = AbortSignal.timeout(pingTimeoutMs);
  const response = await fetch(`http://${loopback}:${port}/ping`, { signal, headers: { connection: 'close' } });
  if (!response.ok) throw new Error(`status ${response.status}`);
}

async function listens(port: number): Promise<void> {
  const socket = connect(port, loopback);
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}

const configuration = ({ ports, password, tls, membership }: Settings): string => `<yandex>
  <logger><level>warning</level><console>1</console></logger>
  <listen_host>${loopback}</listen_host>
  ${tls ? secureListener(ports.http) : `<http_port>${ports.http}</http_port>`}
  <tcp_port>${ports.tcp}</tcp_port>
  <interserver_http_host>${loopback}</interserver_http_host>
  <interserver_http_port>${ports.interserver}</interserver_http_port>
  <path>data/</path>
  <tmp_path>tmp/</tmp_path>
  <users_config>users.xml</users_config>
  <default_profile>default</default_profile>
  <mark_cache_size>100000000</mark_cache_size>
  ${membership ? clusterSettings(membership, password) : ''}
</yandex>`;

const secureListener = (port: number): string => `<https_port>${port}</https_port>
  <openSSL><server>
    <certificateFile>server.pem</certificateFile><privateKeyFile>server.key</privateKeyFile>
    <verificationMode>none</verificationMode><disableProtocols>sslv2,sslv3,tlsv1,tlsv1_1</disableProtocols>
  </server></openSSL>`;

function clusterSettings({ shard, replica, ports, zookeeperPort }: Membership, password: string): string {
  const login = `<user>${username}</user><password>${password}</password>`;
  const replicaOf = ({ tcp }: Ports): string =>
    `<replica><host>${loopback}</host><port>${tcp}</port>${login}</replica>`;
  const shardOf = (replicas: readonly Ports[]): string =>
    `<shard><internal_replication>true</internal_replication>${replicas.map(replicaOf).join('')}</shard>`;
  return `<zookeeper><node><host>${loopback}</host><port>${zookeeperPort}</port></node></zookeeper>
  <remote_servers><${clusterName}>${ports.map(shardOf).join('')}</${clusterName}></remote_servers>
  <macros><shard>${shard}</shard><replica>${replica}</replica></macros>
  <distributed_ddl><path>/clickhouse/task_queue/ddl</path></distributed_ddl>`;
}

const users = (password: string): string => `<yandex>
  <profiles><default/></profiles>
  <quotas><default/></quotas>
  <users><${username}>
    <password>${password}</password>
    <networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>
  </${username}></users>
</yandex>`;

/** Returns a statement without later types, TTLs, comments and settings. Its meaning is the same. */
export const inTheWordsOf2018 = (statement: string): string =>
  statement
    .replace(/^--.*\n/gm, '')
    .replaceAll("DateTime64(3, 'UTC')", "DateTime('UTC')")
    .replaceAll('LowCardinality(String)', 'String')
    .replaceAll(/\bBool\b/g, 'UInt8')
    .replaceAll(/ COMMENT '(?:[^']|'')*'/g, '')
    .replaceAll(/ CODEC\(\w+\(\d+\)\)/g, '')
    .replace(/\nTTL .*/, '')
    .replace(/\s+SETTINGS .*/, '');
