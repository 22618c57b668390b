/**
 * A schema registry that speaks Confluent's API: Apicurio, in memory, so that a restarted one is empty.
 *
 * It can't require a user and password. If a test needs that, or TLS, a proxy in the test's process (`front.ts`) checks
 * them and forwards the requests.
 */
import type { ServerTls } from './certificates.js';
import { recordClasses, setClassesOption } from './class-archives.js';
import { type BasicAuth, type Front, startFront } from './front.js';
import { freePorts, loopback } from './ports.js';
import { run } from './provider.js';
import type { Program, Server, Software } from './server.js';

export interface RegistrySettings {
  readonly basicAuth?: BasicAuth;
  readonly tls?: ServerTls;
}

export interface RegistryServer extends Server {
  /** Of the Confluent-compatible API. */
  readonly url: string;
  readonly version: string;
}

export const registry: Software = {
  name: 'registry',
  commands: ['java'],
  folder: { variable: 'TEST_SERVICES_REGISTRY', inImage: '/deployments' },
  image: 'apicurio/apicurio-registry:3.0.9',
};

const api = '/apis/ccompat/v7';
const pingTimeoutMs = 1_000;
/** The first request of its kind loads classes. */
const firstRequestTimeoutMs = 60_000;

export async function startRegistry({ basicAuth, tls }: RegistrySettings = {}): Promise<RegistryServer> {
  const [port] = (await freePorts(1)) as [number];
  const [server] = (await run([programOn(port)])) as [Server];
  const { version } = (await read(port, '/apis/registry/v3/system/info', firstRequestTimeoutMs)) as { version: string };
  if (!basicAuth && !tls) return Object.assign(server, { url: `http://${loopback}:${port}${api}`, version });
  const front = await startFront({ host: loopback, port }, { basicAuth, tls });
  return Object.assign(withFront(server, front), { url: `${front.url}${api}`, version });
}

/** Makes later starts fast. */
export const recordRegistryClasses = async (): Promise<void> =>
  recordClasses(programOn((await freePorts(1))[0] as number));

const programOn = (port: number): Program => ({
  software: registry,
  ports: [port],
  files: {},
  script: [
    setClassesOption(registry),
    `exec java \${classes:+"$classes"} -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \\`,
    `  -Dquarkus.http.host="$BIND" -Dquarkus.http.port=${port} -jar "$${registry.folder!.variable}"/*-runner.jar`,
  ].join('\n'),
  ping: () => read(port, `${api}/subjects`),
});

async function read(port: number, path: string, timeoutMs = pingTimeoutMs): Promise<unknown> {
  const response = await fetch(`http://${loopback}:${port}${path}`, { signal: AbortSignal.timeout(timeoutMs) });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return response.json();
}

function withFront(server: Server, front: Front): Server {
  return {
    get pid() {
      return server.pid;
    },
    folder: server.folder,
    kill: () => server.kill(),
    pause: () => server.pause(),
    resume: () => server.resume(),
    restart: () => server.restart(),
    logTail: () => server.logTail(),
    async stop() {
      await front.stop();
      await server.stop();
    },
  };
}
