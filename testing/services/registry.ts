/**
 * A schema registry that speaks Confluent's API: Apicurio, in memory, so that a restarted one is empty.
 *
 * It can't require a user and password. If a test needs that, or TLS, it puts a front before any registry
 * (`startRegistryFront`), which checks them and forwards the requests.
 */
import { javaOptions, recordClasses, setClassesOption } from './class-archives.js';
import { type Front, type FrontSettings, startFront } from './front.js';
import { freePorts, loopback } from './ports.js';
import { run } from './provider.js';
import type { Program, Server, Software } from './server.js';

/** A running registry. */
export interface RegistryServer extends Server {
  /** Of the Confluent-compatible API. */
  readonly url: string;
  readonly version: string;
}

/** Where the registry comes from. */
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

/** Starts the registry. Resolves when it answers. */
export async function startRegistry(): Promise<RegistryServer> {
  const [port] = (await freePorts(1)) as [number];
  const [server] = (await run([programOn(port)])) as [Server];
  const { version } = (await read(port, '/apis/registry/v3/system/info', firstRequestTimeoutMs)) as { version: string };
  // There is none yet. Clients that ask for a schema wait for five seconds only.
  const signal = AbortSignal.timeout(firstRequestTimeoutMs);
  await fetch(`http://${loopback}:${port}${api}/schemas/ids/1`, { signal });
  return Object.assign(server, { url: `http://${loopback}:${port}${api}`, version });
}

/** Starts a front before a registry, which may be one that tests share. Returns it with its URL of the same API. */
export async function startRegistryFront(registry: { readonly url: string }, settings: FrontSettings): Promise<Front> {
  const { hostname, port, pathname } = new URL(registry.url);
  const front = await startFront({ host: hostname, port: Number(port) }, settings);
  return { ...front, url: `${front.url}${pathname}` };
}

/** Makes later starts fast, and the first requests of each kind. */
export async function recordRegistryClasses(): Promise<void> {
  const [port] = (await freePorts(1)) as [number];
  await recordClasses(programOn(port), () => registerVersions(port));
}

/** Sends the requests by which Fenceline registers its schemas. */
async function registerVersions(port: number): Promise<void> {
  const subject = 'recorded';
  const versions = `/subjects/${subject}/versions`;
  for (const fields of [[], [{ name: 'added', type: ['null', 'string'], default: null }]]) {
    const schema = { schema: JSON.stringify({ type: 'record', name: 'Recorded', fields }) };
    await ask(port, 'POST', `${api}${versions}`, schema);
    await ask(port, 'POST', `${api}/subjects/${subject}`, schema);
  }
  await ask(port, 'PUT', `${api}/config/${subject}`, { compatibility: 'BACKWARD_TRANSITIVE' });
  for (const path of [`/config/${subject}`, `${versions}/latest`, '/schemas/ids/1'])
    await read(port, `${api}${path}`, firstRequestTimeoutMs);
}

const programOn = (port: number): Program => ({
  software: registry,
  ports: [port],
  files: {},
  script: [
    setClassesOption(registry),
    `exec java \${classes:+"$classes"} ${javaOptions} \\`,
    `  -Dquarkus.http.host="$BIND" -Dquarkus.http.port=${port} -jar "$${registry.folder!.variable}"/*-runner.jar`,
  ].join('\n'),
  ping: () => read(port, `${api}/subjects`),
});

const read = (port: number, path: string, timeoutMs = pingTimeoutMs): Promise<unknown> =>
  request(port, path, { signal: AbortSignal.timeout(timeoutMs) });

const ask = (port: number, method: string, path: string, body: object): Promise<unknown> =>
  request(port, path, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(firstRequestTimeoutMs),
  });

async function request(port: number, path: string, options: RequestInit): Promise<unknown> {
  const response = await fetch(`http://${loopback}:${port}${path}`, options);
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return response.json();
}
