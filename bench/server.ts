/**
 * A Fenceline server under measurement: a process of its own on a temporary folder, with fences put into its log
 * beforehand.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEmbedded } from '../backends/embedded/embedded.js';
import { createSecretCipher, type SecretCipher } from '../pipeline/encryption.js';
import { type NewRecord, topics } from '../pipeline/ports.js';
import { codecs } from '../schemas/codecs.js';
import type { GeofenceRecord } from '../schemas/json/geofence.js';
import type { Project } from '../schemas/json/project.js';
import type { WebhookRecord } from '../schemas/json/webhook.js';
import { encryptionKey } from '../server/keys/encryption-key.js';
import { type Keys, launchServer, type ServerProcess } from '../server/server-process.js';
import { type Answer, send } from './http.js';
import { type FenceMix, fences } from './workload.js';

const program = fileURLToPath(new URL('../cli/main.js', import.meta.url));
const partitions = 4;
const changesPerAppend = 2_000;

/** No limits: what is measured is the pipeline. */
const sharedEnvironment = {
  FENCELINE_LOG_LEVEL: 'warn',
  FENCELINE_LOCATIONS_PARTITIONS: `${partitions}`,
  FENCELINE_LIMITS_TRACK_PER_DEVICE_PER_SECOND: '0',
  FENCELINE_LIMITS_TRACK_PER_KEY_PER_SECOND: '0',
  FENCELINE_LIMITS_TRACK_PER_PROJECT_PER_SECOND: '0',
  FENCELINE_LIMITS_LOCATIONS_PER_KEY_PER_SECOND: '0',
  FENCELINE_LIMITS_LOCATIONS_PER_PROJECT_PER_SECOND: '0',
  FENCELINE_LIMITS_MAP_COST_PER_KEY_PER_SECOND: '0',
  FENCELINE_LIMITS_QUERY_PER_KEY_PER_SECOND: '0',
  FENCELINE_LIMITS_MANAGEMENT_PER_KEY_PER_SECOND: '0',
};

export class BenchServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'fenceline-bench-'));
  readonly #environment: Readonly<Record<string, string>>;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 });
  #process: ServerProcess | undefined;
  #address = '';
  #keys: Keys | undefined;

  private constructor(environment: Readonly<Record<string, string>>) {
    this.#environment = environment;
  }

  /** A server that has these fences. */
  static with(mix: FenceMix): Promise<BenchServer> {
    return BenchServer.configured((project) => fences(mix, project), noFurtherConfiguration);
  }

  /** A server that has these fences and webhooks, and `environment` besides what all benches share. */
  static async configured(
    fencesOf: (project: string) => Iterable<GeofenceRecord>,
    webhooksOf: (project: string, secretCipher: SecretCipher) => Iterable<WebhookRecord>,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<BenchServer> {
    const server = new BenchServer(environment);
    await server.start();
    const project = await server.#project();
    await server.stop();
    await server.#append('geofence', fencesOf(project));
    await server.#append('webhook', webhooksOf(project, createSecretCipher(encryptionKey(server.#folder))));
    await server.start();
    return server;
  }

  get keys(): Keys {
    return this.#keys as Keys;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Answers the milliseconds from the start of the process to its being ready. */
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

  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  async dispose(): Promise<void> {
    this.#agent.destroy();
    await this.#process?.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  send(method: string, path: string, key: string, body?: string | Buffer, contentType?: string): Promise<Answer> {
    return send(this.#agent, {
      method,
      url: `${this.#address}${path}`,
      key,
      body,
      ...(contentType && { contentType }),
    });
  }

  /** Sum of a counter over its labels, or over those lines that contain `label`. */
  async counter(name: string, label = ''): Promise<number> {
    const { text } = await this.send('GET', '/metrics', '');
    const lines = text.split('\n').filter((line) => line.startsWith(`fenceline_${name}`) && line.includes(label));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  /** Memory of its own in bytes: without the pages of mapped files, which the system takes back when it wants. */
  anonymousMemoryBytes(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    const kib = (field: string): number => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
    return (kib('RssAnon') + kib('RssShmem')) * 1024;
  }

  async #project(): Promise<string> {
    const key = readFileSync(join(this.#folder, 'admin-api-key'), 'utf8').trim();
    const { text } = await this.send('GET', '/v1/projects', key);
    return (JSON.parse(text) as { projects: [Project] }).projects[0]._id;
  }

  async #append(kind: 'geofence' | 'webhook', records: Iterable<GeofenceRecord | WebhookRecord>): Promise<void> {
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
