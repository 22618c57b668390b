/**
 * A real server for black-box tests: the compiled program as its own process on a temporary folder.
 *
 * Flows in: environment variables for its configuration. Flows out: its address and keys, clients for each key, and its end by stop or
 * kill. Needs `npm run build`; may import everything, but tests should talk to the server from outside only.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Exit, type Greeting, type Keys, launchServer, type ServerProcess } from '../../cli/demo/server-process.js';
import { Client } from './client.js';

/** The compiled command line: of this checkout, or another one to hold against the same tests. */
export const program = process.env.PROGRAM_UNDER_TEST ?? fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** One folder, and the process that runs on it at the moment. */
export class TestServer {
  readonly dataFolder: string;
  readonly #environment: Readonly<Record<string, string>>;
  #process: ServerProcess;
  #greeting: Greeting | undefined;
  #keys: Keys | undefined;

  private constructor(dataFolder: string, environment: Readonly<Record<string, string>>) {
    this.dataFolder = dataFolder;
    this.#environment = environment;
    this.#process = this.#launch();
  }

  /** Starts a server on a fresh folder and waits until it is ready. */
  static async start(environment: Readonly<Record<string, string>> = {}): Promise<TestServer> {
    if (!existsSync(program)) throw new Error(`${program} is not there: run "npm run build" first`);
    const server = new TestServer(await mkdtemp(join(tmpdir(), 'fenceline-test-')), environment);
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

  async administrator(): Promise<Client> {
    return this.withKey((await readFile(join(this.dataFolder, 'administrator-key'), 'utf8')).trim());
  }

  /** Starts the process again, on the same folder, without waiting for it to be ready. */
  launchAgain(): void {
    this.#greeting = undefined;
    this.#process = this.#launch();
  }

  async ready(): Promise<void> {
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

  /** Ends the process if it still runs, and removes the folder. */
  async dispose(): Promise<void> {
    await this.#process.kill();
    await rm(this.dataFolder, { recursive: true, force: true });
  }

  #launch(): ServerProcess {
    return launchServer({
      program,
      dataFolder: this.dataFolder,
      environment: { FENCELINE_LOG_LEVEL: 'warn', ...this.#environment },
    });
  }
}
