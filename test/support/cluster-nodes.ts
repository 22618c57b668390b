/**
 * The processes of a cluster under test, each with its roles and a supervisor that restarts it when it ends.
 *
 * Input: the configuration of a fresh cluster (`newTestCluster`) and a plan of nodes. Output: clients for any
 * node that takes requests, and each node's process to be killed, stopped, paused and resumed.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Role } from '../../server/config/schema.js';
import { type Exit, type Keys, launchServer, type ServerProcess } from '../../server/server-process.js';
import { pauseProcess } from '../../testing/pause.js';
import { until } from '../../testing/until.js';
import { placeBasemap } from './basemap.js';
import { Client } from './client.js';
import { program } from './program.js';

export interface NodePlan {
  readonly name: string;
  readonly roles: readonly Role[];
  readonly environment?: Readonly<Record<string, string>>;
  /** The compiled `cli/main.js`. Default: the one under test. */
  readonly program?: string;
}

const restartAfterMs = 100;
const workingTimeoutMs = 240_000;

/** A node that is restarted on the same folder and, after its first start, on the same port. */
export class SupervisedNode {
  readonly name: string;
  readonly roles: readonly Role[];
  /** How often it was restarted. */
  restarts = 0;
  address = '';
  /** Keys of the first project, if this node created it. */
  keys: Keys | undefined;
  readonly #folder: string;
  #program: string;
  #environment: Readonly<Record<string, string>>;
  /** The last log lines of former processes. */
  readonly #formerLog: string[] = [];
  #process: ServerProcess;
  #isReady = false;
  #isEnding = false;
  #supervising: Promise<void>;

  constructor(plan: NodePlan, folder: string, environment: Readonly<Record<string, string>>) {
    this.name = plan.name;
    this.roles = plan.roles;
    this.#folder = folder;
    this.#program = plan.program ?? program;
    this.#environment = { ...environment, ...plan.environment, FENCELINE_ROLES: plan.roles.join(',') };
    this.#process = this.#launch();
    this.#supervising = this.#supervise();
  }

  /** Resolves when the current process is ready. Rejects when it ends before. */
  async ready(): Promise<void> {
    const running = this.#process;
    const { address, keys } = await running.ready;
    this.address = address;
    this.keys ??= keys;
    this.#isReady = running === this.#process;
  }

  /** Resolves when a process is ready, after any number of restarts. */
  async working(): Promise<void> {
    await until(() => this.#isReady, { timeoutMs: workingTimeoutMs, describe: () => this.log() });
  }

  /** Returns a metric's sum over all labels, or 0 without one. */
  async metric(name: string): Promise<number> {
    const { body } = await new Client(() => this.address, undefined).get('/metrics');
    const values = Array.from((body as string).matchAll(new RegExp(`^${name}(?:{.*})? (\\S+)$`, 'gm')), ([, value]) =>
      Number(value),
    );
    return values.reduce((sum, value) => sum + value, 0);
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Kills the process with SIGKILL. The supervisor restarts it. */
  async kill(): Promise<void> {
    await this.#process.kill();
  }

  /** Stops the process with SIGTERM. The supervisor restarts it with `changes` to its environment. */
  restart(changes: Readonly<Record<string, string>> = {}): Promise<Exit> {
    this.#environment = { ...this.#environment, ...changes };
    return this.#process.stop();
  }

  /** Stops the process with SIGTERM. Resolves when its supervisor has started another build in its place. */
  async replace(program: string): Promise<void> {
    this.#program = program;
    const before = this.restarts;
    await this.#process.stop();
    await until(() => this.restarts > before && this.#isReady, {
      timeoutMs: workingTimeoutMs,
      describe: () => this.log(),
    });
  }

  /** Resolves when the process has stopped: it keeps everything it holds, and does nothing. */
  pause(): Promise<void> {
    return pauseProcess(this.pid);
  }

  /** Sends SIGCONT. */
  resume(): void {
    process.kill(this.pid, 'SIGCONT');
  }

  /** Ends the node without a restart. */
  async end(how: 'stop' | 'kill' = 'stop'): Promise<void> {
    this.#isEnding = true;
    if (how === 'kill') await this.#process.kill();
    else await this.#process.stop();
    await this.#supervising;
  }

  log(): string {
    return [...this.#formerLog, ...this.#process.log()].map((line) => `${this.name}: ${line}`).join('\n');
  }

  async #supervise(): Promise<void> {
    for (;;) {
      await this.#process.exited;
      this.#isReady = false;
      if (this.#isEnding) return;
      this.#formerLog.push(...this.#process.log().slice(-20), '(restarted)');
      await delay(restartAfterMs);
      if (this.#isEnding) return;
      this.restarts += 1;
      this.#process = this.#launch();
      this.ready().catch(() => undefined);
    }
  }

  #launch(): ServerProcess {
    const port = this.address ? Number(new URL(this.address).port) : 0;
    return launchServer({ program: this.#program, dataFolder: this.#folder, port, environment: this.#environment });
  }
}

/** Two nodes that take requests, two that evaluate, and one of each other role: as much as two cores can run. */
export const usualPlan: readonly NodePlan[] = [
  { name: 'front-1', roles: ['ingest', 'api'] },
  { name: 'front-2', roles: ['ingest', 'api'] },
  { name: 'pipeline-1', roles: ['pipeline'] },
  { name: 'pipeline-2', roles: ['pipeline'] },
  { name: 'sender', roles: ['webhooks'] },
  { name: 'store', roles: ['analytics'] },
];

export class ClusterNodes {
  readonly nodes: readonly SupervisedNode[];
  readonly #folder: string;
  #nextFront = 0;

  private constructor(nodes: readonly SupervisedNode[], folder: string) {
    this.nodes = nodes;
    this.#folder = folder;
  }

  /** Starts all nodes at once and waits until they are ready. `environment` extends that of a `TestCluster`. */
  static async start(
    environment: Readonly<Record<string, string>>,
    plan: readonly NodePlan[] = usualPlan,
  ): Promise<ClusterNodes> {
    const folder = await mkdtemp(join(tmpdir(), 'fenceline-cluster-'));
    const given = { FENCELINE_LOG_LEVEL: 'warn', ...environment };
    const drawing = plan.filter(({ roles }) => roles.includes('api'));
    await Promise.all(drawing.map(({ name }) => placeBasemap(join(folder, name))));
    const cluster = new ClusterNodes(
      plan.map((each) => new SupervisedNode(each, join(folder, each.name), given)),
      folder,
    );
    try {
      await Promise.all(cluster.nodes.map((node) => node.ready()));
      await cluster.#keysKnown();
    } catch (error) {
      await cluster.dispose();
      throw error;
    }
    return cluster;
  }

  node(name: string): SupervisedNode {
    const found = this.nodes.find((node) => node.name === name);
    if (!found) throw new Error(`there is no node ${name}`);
    return found;
  }

  /**
   * Returns a client that uses the nodes that take requests in turn. A node that is down refuses, as behind a proxy
   * that has not noticed yet.
   */
  as(key: keyof Keys): Client {
    const { keys } = this;
    return new Client(() => this.address(), keys[key]);
  }

  get keys(): Keys {
    const keys = this.nodes.find((node) => node.keys)?.keys;
    if (!keys) throw new Error('no node printed keys');
    return keys;
  }

  /** Returns the address of the next node that takes requests. */
  address(): string {
    const fronts = this.#fronts;
    this.#nextFront += 1;
    return fronts[this.#nextFront % fronts.length]!.address;
  }

  get #fronts(): readonly SupervisedNode[] {
    return this.nodes.filter(({ roles }) => roles.includes('ingest'));
  }

  /** Resolves when every front knows the keys of the first project, if one was created. */
  async #keysKnown(): Promise<void> {
    const key = this.nodes.find(({ keys }) => keys)?.keys?.test_secret;
    if (key === undefined) return;
    const isKnownTo = async ({ address }: SupervisedNode) => {
      const { status } = await new Client(() => address, key).get('/v1/settings');
      return status !== 401;
    };
    await Promise.all(this.#fronts.map((front) => until(() => isKnownTo(front))));
  }

  /** How often processes were restarted. */
  get restarts(): number {
    return this.nodes.reduce((sum, node) => sum + node.restarts, 0);
  }

  /** Returns a metric's sum over all nodes. */
  async metric(name: string): Promise<number> {
    const values = await Promise.all(this.nodes.map((node) => node.metric(name)));
    return values.reduce((sum, value) => sum + value, 0);
  }

  /** Resolves when all nodes are ready. */
  async working(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.working()));
  }

  log(): string {
    return this.nodes.map((node) => node.log()).join('\n');
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.end()));
  }

  /** Ends all processes and removes the folders. */
  async dispose(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.end('kill')));
    await rm(this.#folder, { recursive: true, force: true });
  }
}
