#!/usr/bin/env node
/**
 * The command line, `fenceline COMMAND`. Nothing imports this file.
 *
 * It loads only descriptions. The implementation of a command is loaded when the command is called, because many of
 * them load native engines.
 */
import module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nearestName } from '../http/fields/spelling.js';
import { readArguments } from './arguments.js';
import { cacheFolder } from './cache-folder.js';
import { type CommandDescription, CommandFailure, type Options, type Run, UsageError } from './command.js';
import { type CommandName, descriptions } from './descriptions.js';
import { commandHelp, overview } from './help.js';
import { Interruption } from './interruption.js';
import { outputLost, outputWritten, watchOutput } from './output.js';

const implementations: { readonly [Name in CommandName]: () => Promise<{ readonly run: Run<never> }> } = {
  serve: () => import('./commands/serve.js'),
  project: () => import('./commands/project.js'),
  places: () => import('./commands/places.js'),
  tail: () => import('./commands/tail.js'),
  export: () => import('./commands/export.js'),
  replay: () => import('./commands/replay.js'),
  import: () => import('./commands/import.js'),
  migrate: () => import('./commands/migrate.js'),
  map: () => import('./commands/map.js'),
  roads: () => import('./commands/roads.js'),
  repartition: () => import('./commands/repartition.js'),
  repair: () => import('./commands/repair.js'),
  backup: () => import('./commands/backup.js'),
  restore: () => import('./commands/restore.js'),
  config: () => import('./commands/config.js'),
  doctor: () => import('./commands/doctor.js'),
  size: () => import('./commands/size.js'),
  demo: () => import('./commands/demo.js'),
};

function commandNamed(given: string): CommandName {
  if (Object.hasOwn(descriptions, given)) return given as CommandName;
  const suggestion = nearestName(given, Object.keys(descriptions));
  throw new UsageError(`unknown command ${given}${suggestion === undefined ? '' : `; did you mean ${suggestion}?`}`);
}

function refuseMoreThan(count: number, first: string, rest: readonly string[]): void {
  const extra = rest[count];
  if (extra !== undefined) throw new UsageError(`${[first, ...rest.slice(0, count)].join(' ')} does not take ${extra}`);
}

async function main([first, ...rest]: readonly string[]): Promise<void> {
  if (first === undefined) return console.log(overview(descriptions));
  if (first === '-h' || first === '--help') {
    refuseMoreThan(0, first, rest);
    return console.log(overview(descriptions));
  }
  if (first === '-v' || first === '--version') {
    refuseMoreThan(0, first, rest);
    const { version } = await import('../server/version.js');
    return console.log(`fenceline ${version}`);
  }
  if (first === 'help') {
    const [asked] = rest;
    const help = asked === undefined ? overview(descriptions) : commandHelp(descriptions[commandNamed(asked)]);
    refuseMoreThan(1, first, rest);
    return console.log(help);
  }
  if (first.startsWith('-'))
    throw new UsageError(`unknown option ${first}; options of a command follow its name: fenceline serve --port 8080`);

  const name = commandNamed(first);
  const description: CommandDescription = descriptions[name];
  const { values, words, wantsHelp } = readArguments(name, description, rest);
  if (wantsHelp) return console.log(commandHelp(description));
  // Loaded only now: help needs no platform.
  const { thisPlatform, unsupportedReason } = await import('../server/platform.js');
  const unsupported = unsupportedReason(thisPlatform);
  if (unsupported !== undefined) throw new CommandFailure(`${unsupported.problem}. ${unsupported.remedy}`);
  const { run } = (await implementations[name]()) as { readonly run: Run<Options> };
  await run(values as never, words);
}

interface Failure {
  readonly line: string;
  readonly status: number;
}

/** Files in it are not the caller's. */
const programFolder = fileURLToPath(new URL('..', import.meta.url));

/** Returns whether the system refused a file that the caller named, or has no space. */
const isFileError = ({ code, path }: NodeJS.ErrnoException): boolean =>
  code === 'ENOSPC' || code === 'EDQUOT' || (path !== undefined && !path.startsWith(programFolder));

async function fileErrorLine(error: NodeJS.ErrnoException): Promise<string> {
  const { fileProblem } = await import('../schemas/file-problem.js');
  return error.path === undefined ? fileProblem(error) : `${error.path}: ${fileProblem(error)}`;
}

/** Returns the line and the exit status of an expected error; undefined for a fault of the program. */
async function expectedFailure(error: Error): Promise<Failure | undefined> {
  if (error instanceof UsageError) return { line: `${error.message} (see "fenceline help${helpTopic()}")`, status: 2 };
  if (error instanceof CommandFailure) return { line: error.message, status: 1 };
  if (error instanceof Interruption) return { line: error.message, status: error.status };
  if (error === outputLost.reason) return { line: `the output can't be written: ${error.message}`, status: 1 };
  if (isFileError(error)) return { line: await fileErrorLine(error), status: 1 };
  if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND' && error.message.includes("'chdb'"))
    return { line: (await import('../server/missing-analytics.js')).notInstalled, status: 1 };
  // Loaded only now: no command needs them to start.
  const [{ ApiError }, { isPortError }, { ServiceError }, { ConfigurationError, StartError }] = await Promise.all([
    import('../schemas/errors.js'),
    import('../pipeline/errors.js'),
    import('../backends/cluster/service-error.js'),
    import('../server/failures.js'),
  ]);
  if (error instanceof ConfigurationError) return { line: error.message, status: 2 };
  const isExpected = [StartError, ServiceError, ApiError].some((kind) => error instanceof kind) || isPortError(error);
  return isExpected ? { line: error.message, status: 1 } : undefined;
}

const helpTopic = (): string => {
  const name = process.argv[2];
  return name !== undefined && Object.hasOwn(descriptions, name) ? ` ${name}` : '';
};

// Node 22 and later keep compiled code between starts. They stay out of the temporary folder.
(module as { enableCompileCache?: (folder: string) => unknown }).enableCompileCache?.(join(cacheFolder(), 'compiled'));
watchOutput();
try {
  await main(process.argv.slice(2));
  await outputWritten();
} catch (error) {
  // A reader that left, such as `head`, has what it wants.
  if (error !== outputLost.reason || (error as NodeJS.ErrnoException).code !== 'EPIPE') {
    const failure = await expectedFailure(error as Error);
    // Loaded only now, as what it prints may come from a server or a file.
    const { printable } = await import('../server/terminal-text.js');
    console.error(failure === undefined ? error : `fenceline: ${printable(failure.line)}`);
    process.exitCode = failure?.status ?? 1;
  }
}
// Clients keep the process alive while a connection that they abandoned is still open.
process.exit();
