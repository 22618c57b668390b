/**
 * A Fenceline server under measurement: a separate process on a temporary folder, whose log already contains the
 * fences.
 */
import { cpSync, lstatSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEmbedded } from '../backends/embedded/embedded.js';
import { createSecretCipher, type SecretCipher } from '../pipeline/encryption.js';
import { type NewRecord, topics } from '../pipeline/ports.js';
import { codecs } from '../schemas/codecs.js';
import type { BeaconRecord } from '../schemas/json/beacon.js';
import type { GeofenceRecord } from '../schemas/json/geofence.js';
import type { Project } from '../schemas/json/project.js';
import type { WebhookRecord } from '../schemas/json/webhook.js';
import { encryptionKey } from '../server/keys/encryption-key.js';
import { type Keys, launchServer, type ServerProcess } from '../server/server-process.js';
import { placeBasemap } from './basemap.js';
import type { BenchOptions } from './case.js';
import { type Answer, send } from './http.js';
import { withoutLimits } from './limits.js';
import { beacons, type FenceMix, fences } from './workload.js';

const program = fileURLToPath(new URL('../cli/main.js', import.meta.url));
const partitions = 4;
const changesPerAppend = 2_000;
const smokeMix: FenceMix = { count: 1_000, radiusM: 100, polygons: 0.5, vertices: () => 32, seed: 7 };
/** Linux counts 100 ticks a second. */
const microsecondsPerTick = 10_000;

const sharedEnvironment = {
  ...withoutLimits,
  FENCELINE_LOG_LEVEL: 'warn',
  FENCELINE_LOCATIONS_PARTITIONS: `${partitions}`,
};

/** One server, which a case starts, kills and starts again on the same folder. */
export class BenchServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'fenceline-bench-'));
  readonly #environment: Readonly<Record<string, string>>;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 });
  #process: ServerProcess | undefined;
  #address = '';
  #keys: Keys | undefined;

  /** A data folder with the first project, of which every server gets a copy: a start takes seconds. */
  static #prepared: Promise<{ readonly server: BenchServer; readonly project: string }> | undefined;
  /** The server of all cases of a smoke run that need fences only. It ends with this process. */
  static #shared: Promise<BenchServer> | undefined;
  #isShared = false;

  private constructor(environment: Readonly<Record<string, string>>) {
    this.#environment = environment;
  }

  /** Starts a server that has these fences. In a smoke run it has a thousand, and others may have used it before. */
  static with(mix: FenceMix, { smoke }: BenchOptions): Promise<BenchServer> {
    if (smoke) return BenchServer.#withAThousandFences();
    return BenchServer.configured((project) => fences(mix, project), noFurtherConfiguration);
  }

  static #withAThousandFences(): Promise<BenchServer> {
    BenchServer.#shared ??= BenchServer.configured((project) => fences(smokeMix, project), noFurtherConfiguration).then(
      (server) => {
        server.#isShared = true;
        process.once('exit', () => rmSync(server.#folder, { recursive: true, force: true }));
        return server;
      },
    );
    return BenchServer.#shared;
  }

  /** Starts a server that has these fences and webhooks. `environment` adds to the shared settings. */
  static async configured(
    fencesOf: (project: string) => Iterable<GeofenceRecord>,
    webhooksOf: (project: string, secretCipher: SecretCipher) => Iterable<WebhookRecord>,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<BenchServer> {
    const { server, project } = await BenchServer.#withProject(environment);
    await server.#append('geofence', fencesOf(project));
    await server.#append('webhook', webhooksOf(project, createSecretCipher(encryptionKey(server.#folder))));
    await server.start();
    return server;
  }

  /** Starts a server that has these fences, and beacons in their area. */
  static async withPlaces(mix: FenceMix, beaconCount: number): Promise<BenchServer> {
    const { server, project } = await BenchServer.#withProject({});
    await server.#append('geofence', fences(mix, project));
    await server.#append('beacon', beacons(beaconCount, project, mix.seed));
    await server.start();
    return server;
  }

  /** Returns a server that does not run yet. */
  static async #withProject(environment: Readonly<Record<string, string>>) {
    BenchServer.#prepared ??= BenchServer.#prepare();
    const { server: prepared, project } = await BenchServer.#prepared;
    const server = new BenchServer(environment);
    const isCopied = (path: string): boolean => !lstatSync(path).isSocket();
    cpSync(prepared.#folder, server.#folder, { recursive: true, filter: isCopied });
    server.#keys = prepared.#keys;
    return { server, project };
  }

  static async #prepare() {
    const server = new BenchServer({});
    process.once('exit', () => rmSync(server.#folder, { recursive: true, force: true }));
    await placeBasemap(server.#folder);
    await server.start();
    const project = await server.#project();
    await server.stop();
    return { server, project };
  }

  /** Returns the URL of the running server. */
  get address(): string {
    return this.#address;
  }

  /** Returns a link that signs in once as an owner. */
  async signInLink(): Promise<string> {
    const body = JSON.stringify({ project: await this.#project() });
    const { text } = await this.send('POST', '/v1/signin/links', this.#adminApiKey(), body);
    return (JSON.parse(text) as { url: string }).url;
  }

  /** Returns the keys of the first project. */
  get keys(): Keys {
    return this.#keys as Keys;
  }

  /** Returns the process id; 0 while the server does not run. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Returns the milliseconds from the start of the process until it is ready. */
  async start(): Promise<number> {
    const startedAt = performance.now();
    this.#process = launchServer({
      program,
      dataFolder: this.#folder,
      environment: { ...sharedEnvironment, ...this.#environment },
    });
    const { address, keys } = await this.#process.ready;
    this.#address = address;
    this.#keys ??= keys;
    return performance.now() - startedAt;
  }

  /** Stops the server by a signal, and waits for it. */
  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  /** Ends the process without notice. Its folder stays. */
  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  /** Kills the server and deletes its folder, unless other cases share it. */
  async dispose(): Promise<void> {
    if (this.#isShared) return;
    this.#agent.destroy();
    await this.#process?.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Uploads locations as NDJSON with the test secret key. Throws if they are refused. */
  async upload(body: string | Buffer): Promise<void> {
    const { status, text } = await this.send(
      'POST',
      '/v1/locations',
      this.keys.test_secret,
      body,
      'application/x-ndjson',
    );
    if (status !== 200) throw new Error(`bulk answered ${status}: ${text}`);
  }

  /** Sends a request on a kept connection. */
  send(method: string, path: string, key: string, body?: string | Buffer, contentType?: string): Promise<Answer> {
    return send(this.#agent, {
      method,
      url: `${this.#address}${path}`,
      key,
      body,
      ...(contentType && { contentType }),
    });
  }

  /** Returns the sum of a counter over all labels, or over the lines that contain `label`. */
  async counter(name: string, label = ''): Promise<number> {
    const { text } = await this.send('GET', '/metrics', '');
    const lines = text.split('\n').filter((line) => line.startsWith(`fenceline_${name}`) && line.includes(label));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  /** Returns the private memory in bytes, without pages of mapped files, which the system can reclaim. */
  anonymousMemoryBytes(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    const kib = (field: string): number => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
    return (kib('RssAnon') + kib('RssShmem')) * 1024;
  }

  /** Returns the processor time of all threads so far, in microseconds. */
  processorUs(): number {
    const stat = readFileSync(`/proc/${this.pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * microsecondsPerTick;
  }

  #adminApiKey(): string {
    return readFileSync(join(this.#folder, 'admin-api-key'), 'utf8').trim();
  }

  async #project(): Promise<string> {
    const { text } = await this.send('GET', '/v1/projects', this.#adminApiKey());
    return (JSON.parse(text) as { projects: [Project] }).projects[0]._id;
  }

  async #append(
    kind: 'geofence' | 'beacon' | 'webhook',
    records: Iterable<GeofenceRecord | BeaconRecord | WebhookRecord>,
  ): Promise<void> {
    const { log, close } = openEmbedded({ path: this.#folder, partitions });
    let batch: NewRecord[] = [];
    for (const record of records) {
      const change = { kind, id: record._id, changedAt: record.updatedAt, record: JSON.stringify(record) };
      batch.push({ key: `${kind}/${record._id}`, value: codecs.change.encode(change) });
      if (batch.length < changesPerAppend) continue;
      await log.append(topics.changes, batch);
      batch = [];
    }
    await log.append(topics.changes, batch);
    await close();
  }
}

const noFurtherConfiguration = (): WebhookRecord[] => [];
