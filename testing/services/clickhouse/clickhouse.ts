/**
 * ClickHouse for tests: the server where it is installed or Docker can bring it, else the same engine behind a small
 * front (`front.ts`).
 *
 * `front.ts` lists what the front does not support. Shards always use it: no cluster of real servers is started.
 */
import { randomBytes } from 'node:crypto';
import { type ClickHouseClientConfigOptions, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { builtFile } from '../../built.js';
import type { ServerTls } from '../certificates.js';
import { freePorts, loopback } from '../ports.js';
import { lacking, run } from '../provider.js';
import type { Program, Server, Software } from '../server.js';
import type { FrontSettings } from './front.js';
import type { ShardedCluster } from './front-sharding.js';

interface ClickHouseSettings {
  /** Without client certificates. */
  readonly tls?: ServerTls;
  readonly cluster?: ShardedCluster;
}

/** Nobody gets in without the name and password. */
export interface ClickHouseAddress {
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

/** A running ClickHouse, or the front that stands for one. */
export interface ClickHouseServer extends Server, ClickHouseAddress {
  readonly version: string;
}

const real: Software = { name: 'clickhouse', commands: ['clickhouse'], image: 'clickhouse/clickhouse-server:26.8.2.7' };
/** Runs wherever the tests run. */
const front: Software = { name: 'clickhouse-front', commands: [], image: '' };

const username = 'fenceline';
const keepAliveMs = 3_000;
const pingTimeoutMs = 2_000;

/** Starts the server. Resolves when it answers. */
export async function startClickHouse(settings: ClickHouseSettings = {}): Promise<ClickHouseServer> {
  const [port] = (await freePorts(1)) as [number];
  const password = randomBytes(12).toString('hex');
  const address = { url: `${settings.tls ? 'https' : 'http'}://${loopback}:${port}`, username, password };
  const isReal = settings.cluster === undefined && (await lacking(real)) === undefined;
  const files = isReal ? realFiles(port, password, settings) : frontFiles(port, password, settings);
  let version = '';
  const ping = async () => {
    version = await versionOf(address, settings);
  };
  const [server] = (await run([{ ...(isReal ? realProgram : frontProgram()), ports: [port], files, ping }])) as [
    Server,
  ];
  return Object.assign(server, address, { version: isReal ? version : `${version}, the engine behind a front,` });
}

const realProgram: Pick<Program, 'software' | 'script'> = {
  software: real,
  script: 'exec clickhouse server --config-file=config.xml',
};

/** As many threads as statements may run at once. */
const frontProgram = (): Pick<Program, 'software' | 'script'> => ({
  software: front,
  script:
    `UV_THREADPOOL_SIZE=16 exec "${process.execPath}" ` +
    `"${builtFile('testing/services/clickhouse/front').pathname}" front.json`,
});

function frontFiles(port: number, password: string, { tls, cluster }: ClickHouseSettings): Program['files'] {
  const settings: FrontSettings = {
    host: loopback,
    port,
    folder: 'data',
    login: { username, password },
    keepAliveMs,
    ...(tls && { tls: tls.certificates.server }),
    ...(cluster && { cluster }),
  };
  return { 'front.json': JSON.stringify(settings) };
}

function realFiles(port: number, password: string, { tls }: ClickHouseSettings): Program['files'] {
  const files = '<certificateFile>server.pem</certificateFile><privateKeyFile>server.key</privateKeyFile>';
  const openSsl = `<openSSL><server>${files}<verificationMode>none</verificationMode></server></openSSL>`;
  const access = '<networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>';
  return {
    'config.xml': `<clickhouse>
      <logger><level>warning</level><console>1</console></logger>
      <listen_host from_env="BIND"/>
      ${tls ? `<https_port>${port}</https_port>${openSsl}` : `<http_port>${port}</http_port>`}
      <path>data/</path>
      <user_directories><users_xml><path>users.xml</path></users_xml></user_directories>
    </clickhouse>`,
    'users.xml': `<clickhouse>
      <profiles><default/></profiles>
      <quotas><default/></quotas>
      <users><${username}><password>${password}</password>${access}</${username}></users>
    </clickhouse>`,
    ...(tls && { 'server.pem': tls.certificates.server.cert, 'server.key': tls.certificates.server.key }),
  };
}

async function versionOf(address: ClickHouseAddress, { tls }: ClickHouseSettings): Promise<string> {
  const options: ClickHouseClientConfigOptions = {
    ...address,
    ...(tls && { tls: { ca_cert: Buffer.from(tls.certificates.ca) } }),
    request_timeout: pingTimeoutMs,
    log: { level: ClickHouseLogLevel.OFF },
  };
  const client = createClient(options);
  try {
    const answer = await client.query({ query: 'SELECT version() AS version', format: 'JSONEachRow' });
    const [row] = await answer.json<{ version: string }>();
    return row?.version ?? 'unknown';
  } finally {
    await client.close();
  }
}
