#!/usr/bin/env node
import { type Command, UsageError } from './command.js';
/**
 * The command line: `fenceline serve | project | tail | replay | map | repartition | config | demo`. Puts all rooms together; imported by nothing.
 */
import { configCommand } from './commands/config.js';
import { demoCommand } from './commands/demo.js';
import { mapCommand } from './commands/map.js';
import { projectCommand } from './commands/project.js';
import { repartitionCommand } from './commands/repartition.js';
import { replayCommand } from './commands/replay.js';
import { serveCommand } from './commands/serve.js';
import { tailCommand } from './commands/tail.js';

const commands: Record<string, Command> = {
  serve: serveCommand,
  project: projectCommand,
  tail: tailCommand,
  replay: replayCommand,
  map: mapCommand,
  repartition: repartitionCommand,
  config: configCommand,
  demo: demoCommand,
};

const usage = (): string =>
  [
    'fenceline, a self-hosted location platform',
    '',
    ...Object.values(commands).flatMap(({ usage, summary }) => [`  fenceline ${usage}`, `      ${summary}`]),
  ].join('\n');

async function main([name, ...args]: string[]): Promise<void> {
  if (name === undefined || name === 'help' || name === '--help') {
    console.log(usage());
    return;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) throw new UsageError(`unknown command ${name}`);
  await command.run(args);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const wrongWords = error instanceof UsageError || (error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS');
  console.error(wrongWords ? `fenceline: ${(error as Error).message}\n\n${usage()}` : error);
  process.exit(wrongWords ? 2 : 1);
});
