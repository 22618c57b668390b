/** `fenceline serve`: starts a node, makes a first project, tells its keys and address, and stops on a signal. */
import { parseArgs } from 'node:util';
import { type Logger, pino } from 'pino';
import { createProject } from '../../api/projects/projects.js';
import type { Command } from '../command.js';
import type { Configuration } from '../config/schema.js';
import { endForSure } from '../node/end-for-sure.js';
import { loggerOptions } from '../node/logger.js';
import type { Node } from '../node/node.js';
import { configurationOptions, configurationOrExit } from './configuration.js';

export const serveCommand: Command = {
  usage: 'serve [--port N] [--host ADDRESS] [--data DIR] [--config FILE]',
  summary: 'Runs Fenceline until it is told to stop: everything in this process, or, in a cluster, the roles of this process.',
  async run(args) {
    const { values } = parseArgs({ args, options: configurationOptions });
    const { configuration } = configurationOrExit(values);
    endForSure();
    const logger = pino(loggerOptions(configuration), pino.destination(2));
    // From the start on: a signal that nobody listens for would end a start in the middle, or, where we are the first process, do nothing.
    const asked = nextSignal();
    const node = await start(configuration, logger);
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

/** Only the node that is wanted is loaded: the embedded engine takes 150 MB that a node of a cluster has no use for. */
async function start(configuration: Configuration, logger: Logger): Promise<Node> {
  if (configuration.backend === 'cluster')
    return (await import('../node/cluster-node.js')).startClusterNode(configuration, logger);
  return (await import('../node/embedded-node.js')).startEmbeddedNode(configuration, logger);
}

async function listen({ app }: Node, host: string, port: number): Promise<string> {
  await app.listen({ host, port });
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
