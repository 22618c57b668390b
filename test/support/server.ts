/**
 * A server of its own for a black-box file: the compiled program as a process on a temporary folder. In the cluster
 * project it is a node with all roles. A second one beside it takes its share of the partitions (`start`), unless the
 * file tests nothing that depends on the node of a partition (`startAlone`). Files that need no settings and no restart
 * share one instead (`shared-server.ts`).
 *
 * Input: environment variables for its configuration. Output: its address and keys, clients for each key, and its
 * end by stop or kill.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminApiKeyFile } from '../../server/keys/admin-api-key.js';
import { type Exit, type Greeting, type Keys, launchServer, type ServerProcess } from '../../server/server-process.js';
import { placeBasemap } from './basemap.js';
import { Client } from './client.js';
import { newTestCluster, type TestCluster } from './cluster.js';
import { program } from './program.js';

/** Longer than a busy machine takes: responses have their events, maps are drawn, and routes are found. */
export const patientReplies = {
  FENCELINE_INGEST_REPLY_TIMEOUT_MS: '30000',
  FENCELINE_MAPS_TIMEOUT_MS: '100000',
  FENCELINE_ROUTING_TIMEOUT_MS: '60000',
};

/** The roles of a cluster's second node: all but those that take requests. */
export const companionRoles = 'pipeline,webhooks,analytics';

/** Returns the data folder of the second node of a cluster: a node refuses a folder with files of others. */
export const companionFolderOf = (dataFolder: string): string => `${dataFolder}-companion`;

/** Returns the admin API key that an embedded server wrote into its data folder. */
export const adminApiKeyIn = async (dataFolder: string): Promise<string> =>
  (await readFile(join(dataFolder, adminApiKeyFile), 'utf8')).trim();

/** A data folder, and the process that runs on it at the moment. */
export class TestServer {
  readonly dataFolder: string;
  readonly #cluster: TestCluster | undefined;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #companion: ServerProcess | undefined;
  #process: ServerProcess;
  #greeting: Greeting | undefined;
  #keys: Keys | undefined;

  private constructor(dataFolder: string, environment: Readonly<Record<string, string>>, isAlone: boolean) {
    this.dataFolder = dataFolder;
    this.#cluster = newTestCluster();
    this.#environment = {
      FENCELINE_LOG_LEVEL: 'warn',
      ...patientReplies,
      ...this.#cluster?.environment,
      ...environment,
    };
    this.#process = this.#launch();
    this.#companion = this.#cluster && !isAlone ? this.#launchCompanion() : undefined;
  }

  /**
   * Starts a server on a fresh folder, once that is prepared, and waits until it is ready. By default the folder has
   * the basemap.
   */
  static async start(
    environment: Readonly<Record<string, string>> = {},
    prepare: (dataFolder: string) => Promise<void> = placeBasemap,
    isAlone = false,
  ): Promise<TestServer> {
    const dataFolder = await mkdtemp(join(tmpdir(), 'fenceline-test-'));
    await prepare(dataFolder);
    const server = new TestServer(dataFolder, environment, isAlone);
    try {
      await server.ready();
    } catch (error) {
      await server.dispose();
      throw error;
    }
    return server;
  }

  /** Starts a server that has no second node beside it. */
  static startAlone(environment: Readonly<Record<string, string>> = {}): Promise<TestServer> {
    return TestServer.start(environment, placeBasemap, true);
  }

  get address(): string {
    if (!this.#greeting) throw new Error('the server is not ready');
    return this.#greeting.address;
  }

  /** The keys that the first start printed. */
  get keys(): Keys {
    if (!this.#keys) throw new Error('the server printed no keys');
    return this.#keys;
  }

  get process(): ServerProcess {
    return this.#process;
  }

  /** Returns a client with one of the four keys. It follows the server through restarts. */
  as(key: keyof Keys): Client {
    return new Client(() => this.address, this.keys[key]);
  }

  /** Returns a client with any text for a key, or none. */
  withKey(key: string | undefined): Client {
    return new Client(() => this.address, key);
  }

  /** Undefined when embedded. */
  get cluster(): TestCluster | undefined {
    return this.#cluster;
  }

  /** The settings of every process of this server, without the environment of the tests. */
  get environment(): Readonly<Record<string, string>> {
    return this.#environment;
  }

  async administrator(): Promise<Client> {
    if (this.#cluster) return this.withKey(this.#cluster.adminApiKey);
    return this.withKey(await adminApiKeyIn(this.dataFolder));
  }

  /** Starts the process again, on the same folder, without waiting for it to be ready. */
  launchAgain(port?: number): void {
    this.#greeting = undefined;
    this.#process = this.#launch(port);
  }

  async ready(): Promise<void> {
    await this.#companion?.ready;
    this.#greeting = await this.#process.ready;
    this.#keys ??= this.#greeting.keys;
  }

  /** Starts the process again, by default on another free port, and waits until it is ready. */
  async restart(port?: number): Promise<void> {
    this.launchAgain(port);
    await this.ready();
  }

  stop(): Promise<Exit> {
    return this.#process.stop();
  }

  kill(): Promise<Exit> {
    return this.#process.kill();
  }

  /** Ends all processes and removes the folder. */
  async dispose(): Promise<void> {
    await this.#process.kill();
    await this.#companion?.kill();
    for (const folder of [this.dataFolder, companionFolderOf(this.dataFolder)])
      await rm(folder, { recursive: true, force: true });
  }

  #launch(port = 0): ServerProcess {
    return launchServer({ program, dataFolder: this.dataFolder, port, environment: this.#environment });
  }

  #launchCompanion(): ServerProcess {
    const environment = { ...this.#environment, FENCELINE_ROLES: companionRoles };
    return launchServer({ program, dataFolder: companionFolderOf(this.dataFolder), environment });
  }
}
