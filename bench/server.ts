/** A Fenceline server under measurement: a process of its own on a temporary folder, with fences put into its log beforehand. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEmbedded } from '../backends/embedded/embedded.js';
import { type Keys, launchServer, type ServerProcess } from '../cli/demo/server-process.js';
import type { NewRecord } from '../pipeline/ports.js';
import { topics } from '../pipeline/ports.js';
import { codecs } from '../schemas/codecs.js';
import type { Project } from '../schemas/json/project.js';
import { type FenceMix, fences } from './workload.js';

const program = fileURLToPath(new URL('../cli/main.js', import.meta.url));
const partitions = 4;
const changesPerAppend = 2_000;

/** No limits: what is measured is the pipeline. */
const environment = {
  FENCELINE_LOG_LEVEL: 'warn',
  FENCELINE_LOCATIONS_PARTITIONS: `${partitions}`,
  FENCELINE_LIMITS_TRACK_PER_DEVICE_PER_SECOND: '0',
  FENCELINE_LIMITS_QUERY_PER_KEY_PER_SECOND: '0',
  FENCELINE_LIMITS_MANAGEMENT_PER_KEY_PER_SECOND: '0',
};

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export class BenchServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'fenceline-bench-'));
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 });
  #process: ServerProcess | undefined;
  #address = '';
  #keys: Keys | undefined;

  /** A server that has these fences. */
  static async with(mix: FenceMix): Promise<BenchServer> {
    const server = new BenchServer();
    await server.start();
    const project = await server.#project();
    await server.stop();
    await server.#appendFences(mix, project);
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
    this.#process = launchServer({ program, dataFolder: this.#folder, environment });
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

  send(method: string, path: string, key: string, body?: string | Buffer, contentType = 'application/json'): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: key,
        ...(body && { 'content-type': contentType, 'content-length': Buffer.byteLength(body) }),
      };
      const outgoing = request(`${this.#address}${path}`, { method, agent: this.#agent, headers }, (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
        incoming.on('error', reject);
      });
      outgoing.on('error', reject);
      outgoing.end(body);
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
    const key = readFileSync(join(this.#folder, 'administrator-key'), 'utf8').trim();
    const { text } = await this.send('GET', '/v1/projects', key);
    return (JSON.parse(text) as { projects: [Project] }).projects[0]._id;
  }

  async #appendFences(mix: FenceMix, project: string): Promise<void> {
    const { log, close } = openEmbedded({ path: this.#folder, partitions });
    let batch: NewRecord[] = [];
    for (const record of fences(mix, project)) {
      const change = { kind: 'geofence', id: record._id, changedAt: record.updatedAt, record: JSON.stringify(record) } as const;
      batch.push({ key: `geofence/${record._id}`, value: codecs.change.encode(change) });
      if (batch.length < changesPerAppend) continue;
      await log.append(topics.changes, batch);
      batch = [];
    }
    await log.append(topics.changes, batch);
    await close();
  }
}
