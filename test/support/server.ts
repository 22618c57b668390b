/**
 * A real server for black-box tests: the compiled program as its own process on a temporary folder. In the cluster
 * project it is a node with all roles, and a second one beside it takes its share of the partitions.
 *
 * Flows in: environment variables for its configuration. Flows out: its address and keys, clients for each key, and its
 * end by stop or kill. Needs `npm run build`; may import everything, but tests should talk to the server from outside
 * only.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Exit, type Greeting, type Keys, launchServer, type ServerProcess } from '../../server/server-process.js';
import { Client } from './client.js';
import { newTestCluster, type TestCluster } from './cluster.js';

/** The compiled command line: of this checkout, or another one to hold against the same tests. */
export const program =
  process.env.PROGRAM_UNDER_TEST ?? fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** What the second node of a cluster does: all that the first does, but for what is asked of it. */
const companionRoles = 'pipeline,webhooks,analytics';

/** One folder, and the process that runs on it at the moment. */
export class TestServer {
  readonly dataFolder: string;
  readonly #cluster: TestCluster | undefined;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #companion: ServerProcess | undefined;
  #process: ServerProcess;
  #greeting: Greeting | undefined;
  #keys: Keys | undefined;

  private constructor(dataFolder: string, environment: Readonly<Record<string, string>>) {
    this.dataFolder = dataFolder;
    this.#cluster = newTestCluster();
    this.#environment = { FENCELINE_LOG_LEVEL: 'warn', ...this.#cluster?.environment, ...environment };
    this.#process = this.#launch();
    this.#companion = this.#cluster && this.#launchCompanion();
  }

  /** Starts a server on a fresh folder, once that is prepared, and waits until it is ready. */
  static async start(
    environment: Readonly<Record<string, string>> = {},
    prepare?: (dataFolder: string) => Promise<void>,
  ): Promise<TestServer> {
    if (!existsSync(program)) throw new Error(`${program} is not there: run "npm run build" first`);
    const dataFolder = await mkdtemp(join(tmpdir(), 'fenceline-test-'));
    await prepare?.(dataFolder);
    const server = new TestServer(dataFolder, environment);
    try {
      await server.ready();
    } catch (error) {
      await server.dispose();
      throw error;
    }
    return server;
  }

  get address(): string {
    if (!this.#greeting) throw new Error('the server is not ready');
    return this.#greeting.address;
  }

  /** Remembered from the first start. */
  get keys(): Keys {
    if (!this.#keys) throw new Error('the server printed no keys');
    return this.#keys;
  }

  get process(): ServerProcess {
    return this.#process;
  }

  /** A client with one of the four keys; it follows the server through restarts. */
  as(key: keyof Keys): Client {
    return new Client(() => this.address, this.keys[key]);
  }

  /** A client with any text for a key, or none. */
  withKey(key: string | undefined): Client {
    return new Client(() => this.address, key);
  }

  /** Undefined when embedded. */
  get cluster(): TestCluster | undefined {
    return this.#cluster;
  }

  /** Of every process of this server, without what the tests were started with. */
  get environment(): Readonly<Record<string, string>> {
    return this.#environment;
  }

  async administrator(): Promise<Client> {
    if (this.#cluster) return this.withKey(this.#cluster.adminApiKey);
    return this.withKey((await readFile(join(this.dataFolder, 'admin-api-key'), 'utf8')).trim());
  }

  /** Starts the process again, on the same folder, without waiting for it to be ready. */
  launchAgain(): void {
    this.#greeting = undefined;
    this.#process = this.#launch();
  }

  async ready(): Promise<void> {
    await this.#companion?.ready;
    this.#greeting = await this.#process.ready;
    this.#keys ??= this.#greeting.keys;
  }

  async restart(): Promise<void> {
    this.launchAgain();
    await this.ready();
  }

  stop(): Promise<Exit> {
    return this.#process.stop();
  }

  kill(): Promise<Exit> {
    return this.#process.kill();
  }

  /** Ends what still runs, and removes the folder. */
  async dispose(): Promise<void> {
    await this.#process.kill();
    await this.#companion?.kill();
    await rm(this.dataFolder, { recursive: true, force: true });
  }

  #launch(): ServerProcess {
    return launchServer({ program, dataFolder: this.dataFolder, environment: this.#environment });
  }

  #launchCompanion(): ServerProcess {
    const environment = { ...this.#environment, FENCELINE_ROLES: companionRoles };
    return launchServer({ program, dataFolder: join(this.dataFolder, 'companion'), environment });
  }
}
