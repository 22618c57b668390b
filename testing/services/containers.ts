/**
 * Runs programs as Docker containers where their software is not installed. Requires an engine on this machine.
 *
 * All containers of one call share the network of a first one, which only waits and publishes their ports under the
 * same numbers. Servers and tests thus find each other on the loopback address, with the same files and scripts as
 * processes.
 * The reaper of testcontainers removes containers that a killed test run leaves.
 *
 * Images must have the programs on the PATH or in the folders that `Software` names.
 */
import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer, Wait } from 'testcontainers';
import { answering, logTailLines, type Program, type Server } from './server.js';

type Engine = Awaited<ReturnType<typeof getContainerRuntimeClient>>;
type Container = ReturnType<Engine['container']['getById']>;

const folder = '/service';
/** After that a server that was asked to end is killed. */
const endTimeoutSeconds = 30;

let answers: Promise<boolean> | undefined;

/** Returns whether Docker can be used. It is asked once per process. */
export function dockerAnswers(): Promise<boolean> {
  answers ??= getContainerRuntimeClient().then(
    () => true,
    () => false,
  );
  return answers;
}

/** Starts programs in one network, which goes with the last of them. */
export async function startContainers(programs: readonly Program[]): Promise<Promise<Server>[]> {
  const network = await startNetwork(programs);
  let users = programs.length;
  const release = async () => {
    users -= 1;
    if (users === 0) await network.stop();
  };
  return programs.map((program) => startContainer(program, network, release));
}

function startNetwork(programs: readonly Program[]): Promise<StartedTestContainer> {
  const ports = programs.flatMap((program) => program.ports);
  return new GenericContainer(programs[0]!.software.image)
    .withEntrypoint(['sh', '-c'])
    .withCommand(['echo holding; exec sleep infinity'])
    .withExposedPorts(...ports.map((port) => ({ container: port, host: port })))
    .withWaitStrategy(Wait.forLogMessage('holding'))
    .start();
}

async function startContainer(
  program: Program,
  network: StartedTestContainer,
  release: () => Promise<void>,
): Promise<Server> {
  const { image, folder: software } = program.software;
  const files = Object.entries(program.files).map(([name, content]) => ({ content, target: `${folder}/${name}` }));
  const started = await new GenericContainer(image)
    .withNetworkMode(`container:${network.getId()}`)
    .withUser('root')
    .withWorkingDir(folder)
    .withCopyContentToContainer(files)
    .withEnvironment({ BIND: '0.0.0.0', ...(software && { [software.variable]: software.inImage }) })
    .withEntrypoint(['sh', '-c'])
    .withCommand([program.script])
    .start();
  const engine = await getContainerRuntimeClient();
  const server = new ContainerServer(program, engine.container.getById(started.getId()), release);
  try {
    await server.answers();
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

class ContainerServer implements Server {
  readonly pid = undefined;
  readonly folder = undefined;
  readonly #program: Program;
  readonly #container: Container;
  readonly #release: () => Promise<void>;
  #isStopped = false;

  constructor(program: Program, container: Container, release: () => Promise<void>) {
    this.#program = program;
    this.#container = container;
    this.#release = release;
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    await this.#container.remove({ force: true, v: true });
    await this.#release();
  }

  async kill(): Promise<void> {
    if (!(await this.#state()).Running) return;
    await this.#container.kill({ signal: 'SIGKILL' });
    await this.#container.wait();
  }

  async pause(): Promise<void> {
    await this.#container.pause();
  }

  async resume(): Promise<void> {
    await this.#container.unpause();
  }

  async restart(): Promise<void> {
    const { Paused, Running } = await this.#state();
    if (Paused) await this.#container.unpause();
    if (Running) await this.#container.stop({ t: endTimeoutSeconds });
    await this.#container.start();
    await this.answers();
  }

  async answers(): Promise<void> {
    try {
      await answering(this.#program, async () => !(await this.#state()).Running);
    } catch (error) {
      throw new Error(await this.logTail(), { cause: error });
    }
  }

  async logTail(): Promise<string> {
    const log = await this.#container.logs({ stdout: true, stderr: true, tail: logTailLines });
    // Each piece has a binary header.
    return log.toString().replace(/[^\n -~]/g, '');
  }

  async #state(): Promise<{ Running: boolean; Paused: boolean }> {
    return (await this.#container.inspect()).State;
  }
}
