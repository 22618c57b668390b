/** `fenceline serve`: starts a node, creates the first project, prints its keys and address, and stops on a signal. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { onFirstSignal } from '../../schemas/end-signals.js';
import type { Configuration } from '../../server/config/schema.js';
import { endForSure } from '../../server/end-for-sure.js';
import { localAddress } from '../../server/local-address.js';
import type { Node } from '../../server/node.js';
import { stopWithLauncher } from '../../server/server-process.js';
import { CommandFailure, type Run } from '../command.js';
import { configurationFrom } from '../configuration.js';
import type { OptionsOf } from '../descriptions.js';
import { whenShellOfNpmEnds } from '../shell-of-npm.js';

/** Runs a node until a signal ends it. */
export const run: Run<OptionsOf<'serve'>> = async (values) => {
  const { configuration } = configurationFrom(values);
  endForSure();
  // Installed first: an unhandled signal would end the process during the start, or, as process 1 of a container, be
  // ignored.
  const asked = nextRequestToStop();
  announce(configuration);
  // Loaded after the announcement, because loading a node takes over a second.
  const { createLogger } = await import('../../server/logger.js');
  const logger = createLogger(configuration);
  const ending = new AbortController();
  void asked.then(() => ending.abort());
  const refuse = async (error: Error): Promise<never> => {
    const { folderFailure } = await import('../../server/data-folder/unusable.js');
    throw folderFailure(configuration.data, error) ?? error;
  };
  const node = await start(configuration, logger, ending.signal).catch((error: Error) => {
    if (error.name === 'AbortError') process.exit(0);
    return refuse(error);
  });
  const address = await listen(node, configuration.host, configuration.port);
  await welcome(node, address);
  node.markStarted();
  logger.info({ address, data: configuration.data }, 'ready');

  const reason = await Promise.race([node.failed.catch(refuse), asked]);
  logger.info({ reason }, 'stopping');
  await node.stop();
  logger.info('stopped');
  process.exit(0);
};

/** Prints what the start does, because it takes seconds until the address can be printed. */
function announce({ backend, data, roles }: Configuration): void {
  if (backend === 'cluster') console.log(`Starting Fenceline as ${roles.join(', ')}: connecting to the cluster`);
  else if (existsSync(join(data, 'log'))) console.log(`Starting Fenceline: opening the data folder ${data}`);
  else
    console.log(`Starting Fenceline for the first time: creating the data folder ${data}, which takes a few seconds`);
}

const addressProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses the port; choose another with --port',
  EACCES: 'the port requires more privileges; choose another with --port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'this machine has no such address',
};

const withAddress =
  (host: string, port: number) =>
  (error: NodeJS.ErrnoException): never => {
    const problem = addressProblems[error.code ?? ''];
    throw problem === undefined ? error : new CommandFailure(`can't listen on ${host}:${port}: ${problem}`);
  };

/**
 * Loads only the implementation of the backend: the embedded engine takes 150 MB, which a cluster node doesn't need.
 */
async function start(configuration: Configuration, logger: Logger, ending: AbortSignal): Promise<Node> {
  if (configuration.backend === 'cluster')
    return (await import('../../server/cluster-node.js')).startClusterNode(configuration, logger, ending);
  return (await import('../../server/embedded-node.js')).startEmbeddedNode(configuration, logger);
}

async function listen({ app }: Node, host: string, port: number): Promise<string> {
  await app.listen({ host, port }).catch(withAddress(host, port));
  const bound = app.server.address();
  const actualPort = typeof bound === 'object' && bound !== null ? bound.port : port;
  return localAddress({ host, port: actualPort });
}

/**
 * Prints the address and, on the first start, the keys of the first project with a command to try them and a link to
 * sign in.
 */
async function welcome(
  { configuration, writer, claimFirstProject, createSignInLink }: Node,
  address: string,
): Promise<void> {
  if (configuration.projects().length > 0 || !(await claimFirstProject())) {
    console.log(`Fenceline is listening on ${address}`);
    return;
  }
  const { createProject } = await import('../../api/projects/projects.js');
  const { project, keys } = await createProject(writer, { name: 'First project' });
  const link = await createSignInLink(project._id);
  const lines = keys.map(({ record, key }) => `  ${`${record.environment} ${record.kind}`.padEnd(17)} ${key}`);
  const publishable = keys.find(({ record }) => record.environment === 'test' && record.kind === 'publishable')?.key;
  console.log(
    [
      'Created a first project. Its keys are shown only this once:',
      '',
      ...lines,
      '',
      'Try it:',
      '',
      `  curl ${address}/v1/track -H "Authorization: ${publishable}" ` +
        '-d deviceId=phone-1 -d latitude=43.7731 -d longitude=11.2560 -d accuracy=10',
      '',
      'Sign in as its owner; the link works once, within an hour:',
      '',
      `  ${link}`,
      '',
      `API reference: ${address}/docs`,
      `Fenceline is listening on ${address}`,
    ].join('\n'),
  );
}

/** Resolves with the first request to stop. A second signal, of any name, ends the process at once. */
function nextRequestToStop(): Promise<NodeJS.Signals | 'launcher ended'> {
  return new Promise((resolve) => {
    const launcherEnded = () => resolve('launcher ended');
    whenShellOfNpmEnds(launcherEnded);
    process.on('message', (message) => {
      if (message !== stopWithLauncher) return;
      if (process.connected) process.once('disconnect', launcherEnded);
      else launcherEnded();
    });
    onFirstSignal((name) => {
      onFirstSignal(() => process.exit(1));
      resolve(name);
    });
  });
}
