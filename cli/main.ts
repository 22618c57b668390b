#!/usr/bin/env node
/**
 * The command line: `fenceline serve | project | tail | replay | map | repartition | repair | config | demo`. Puts
 * all modules together; imported by nothing.
 *
 * A command is loaded when it is called: some of them load native engines, which takes longer than what others do.
 */
import { isPortError } from '../pipeline/errors.js';
import { ApiError } from '../schemas/errors.js';
import { ConfigurationError, StartError } from '../server/failures.js';
import { type Command, CommandFailure, UsageError } from './command.js';

const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./commands/serve.js')).serveCommand,
  project: async () => (await import('./commands/project.js')).projectCommand,
  tail: async () => (await import('./commands/tail.js')).tailCommand,
  replay: async () => (await import('./commands/replay.js')).replayCommand,
  map: async () => (await import('./commands/map.js')).mapCommand,
  repartition: async () => (await import('./commands/repartition.js')).repartitionCommand,
  repair: async () => (await import('./commands/repair.js')).repairCommand,
  config: async () => (await import('./commands/config.js')).configCommand,
  demo: async () => (await import('./commands/demo.js')).demoCommand,
};

async function usage(): Promise<string> {
  const all = await Promise.all(Object.values(commands).map((load) => load()));
  return [
    'fenceline, a self-hosted location platform',
    '',
    ...all.flatMap(({ usage, summary }) => [`  fenceline ${usage}`, `      ${summary}`]),
  ].join('\n');
}

async function main([name, ...args]: string[]): Promise<void> {
  if (name === undefined || name === 'help' || name === '--help') {
    console.log(await usage());
    return;
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!load) throw new UsageError(`unknown command ${name}`);
  await (await load()).run(args);
}

/**
 * What went wrong, as one line, and the exit status; undefined for what nobody expected, which is told with its stack.
 */
function expected(
  error: Error & { readonly code?: string },
): { readonly line: string; readonly status: 1 | 2 } | undefined {
  if (error instanceof UsageError || error instanceof ConfigurationError) return { line: error.message, status: 2 };
  // Node adds advice on positional arguments, which no command that has options takes.
  if (error.code?.startsWith('ERR_PARSE_ARGS')) return { line: error.message.split('. ', 1)[0] as string, status: 2 };
  if (error instanceof CommandFailure || error instanceof StartError || error instanceof ApiError || isPortError(error))
    return { line: error.message, status: 1 };
  return undefined;
}

main(process.argv.slice(2)).catch((error: Error) => {
  const known = expected(error);
  if (known === undefined) console.error(error);
  else console.error(`fenceline: ${known.line}${known.status === 2 ? '; "fenceline help" shows how it is used' : ''}`);
  process.exit(known?.status ?? 1);
});
