/** `fenceline serve`: starts a node, makes a first project, tells its keys and address, and stops on a signal. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Logger } from 'pino';
import type { Configuration } from '../../server/config/schema.js';
import { endForSure } from '../../server/end-for-sure.js';
import type { Node } from '../../server/node.js';
import { type Command, CommandFailure } from '../command.js';
import { configurationOptions, configurationOrExit } from './configuration.js';

export const serveCommand: Command = {
  usage: 'serve [--port N] [--host ADDRESS] [--data DIR] [--config FILE]',
  summary:
    'Runs Fenceline until it is told to stop: everything in this process, or, in a cluster, the roles of this process.',
  async run(args) {
    const { values } = parseArgs({ args, options: configurationOptions });
    const { configuration } = configurationOrExit(values);
    endForSure();
    // From the start on: a signal that nobody listens for would end a start in the middle, or, where we are the first
    // process, do nothing.
    const asked = nextSignal();
    announce(configuration);
    // Loaded only now: what a node is made of takes longer to load than people wait for a sign.
    const [{ pino }, { loggerOptions }] = await Promise.all([import('pino'), import('../../server/logger.js')]);
    const logger = pino(loggerOptions(configuration), pino.destination(2));
    const node = await start(configuration, logger).catch(withFolder(configuration.data));
    const address = await listen(node, configuration.host, configuration.port);
    await welcome(node, address);
    logger.info({ address, data: configuration.data }, 'ready');

    const signal = await Promise.race([node.failed, asked]);
    logger.info({ signal }, 'stopping');
    await node.stop();
    logger.info('stopped');
    process.exit(0);
  },
};

/** What is being done, until the address is told. */
function announce({ backend, data, roles }: Configuration): void {
  if (backend === 'cluster') console.log(`Starting Fenceline as ${roles.join(', ')}: connecting to the cluster`);
  else if (existsSync(join(data, 'log'))) console.log(`Starting Fenceline: opening the data folder ${data}`);
  else console.log(`Starting Fenceline for the first time: making the data folder ${data}, which takes some seconds`);
}

/** Of the data folder, by the system's code. */
const folderProblems: Readonly<Record<string, string>> = {
  EACCES: 'it belongs to another user',
  EPERM: 'it belongs to another user',
  EROFS: 'its disk is read-only',
  ENOTDIR: 'it, or what it lies in, is a file',
  EEXIST: 'it is a file',
  ENOSPC: 'its disk is full',
};

/** Rejects with one line where the system refuses the folder, and with the error as it is otherwise. */
const withFolder =
  (data: string) =>
  (error: NodeJS.ErrnoException): never => {
    const problem = folderProblems[error.code ?? ''];
    throw problem === undefined ? error : new CommandFailure(`the data folder ${data} can't be used: ${problem}`);
  };

const addressProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program has the port; --port takes another',
  EACCES: 'the port needs more rights; --port takes another',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'this machine has no such address',
};

const withAddress =
  (host: string, port: number) =>
  (error: NodeJS.ErrnoException): never => {
    const problem = addressProblems[error.code ?? ''];
    throw problem === undefined ? error : new CommandFailure(`can't listen on ${host}:${port}: ${problem}`);
  };

/** Only the node that is wanted is loaded: the embedded engine takes 150 MB that a node of a cluster has no use for. */
async function start(configuration: Configuration, logger: Logger): Promise<Node> {
  if (configuration.backend === 'cluster')
    return (await import('../../server/cluster-node.js')).startClusterNode(configuration, logger);
  return (await import('../../server/embedded-node.js')).startEmbeddedNode(configuration, logger);
}

async function listen({ app }: Node, host: string, port: number): Promise<string> {
  await app.listen({ host, port }).catch(withAddress(host, port));
  const bound = app.server.address();
  const actualPort = typeof bound === 'object' && bound !== null ? bound.port : port;
  const isEverywhere = host === '0.0.0.0' || host === '::';
  return `http://${isEverywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${actualPort}`;
}

/** The address; and on the first start the keys, which are shown this once, with a line to try them. */
async function welcome({ configuration, writer, mayGreet }: Node, address: string): Promise<void> {
  if (configuration.projects().length > 0 || !(await mayGreet())) {
    console.log(`Fenceline is listening on ${address}`);
    return;
  }
  const { createProject } = await import('../../api/projects/projects.js');
  const { keys } = await createProject(writer, 'First project');
  const lines = keys.map(({ record, key }) => `  ${`${record.environment} ${record.kind}`.padEnd(17)} ${key}`);
  const publishable = keys.find(({ record }) => record.environment === 'test' && record.kind === 'publishable')?.key;
  console.log(
    [
      'Made a first project. Its keys are shown this once:',
      '',
      ...lines,
      '',
      'Try it:',
      '',
      `  curl ${address}/v1/track -H "Authorization: ${publishable}" -d deviceId=phone-1 -d latitude=43.7731 -d longitude=11.2560 -d accuracy=10`,
      '',
      `The API is described at ${address}/docs`,
      `Fenceline is listening on ${address}`,
    ].join('\n'),
  );
}

/** The first signal asks to stop; a second one ends the process at once. */
function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      process.once(name, () => {
        process.once(name, () => process.exit(1));
        resolve(name);
      });
    }
  });
}
