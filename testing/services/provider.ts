/** Starts each service's software: as processes where it is installed, otherwise in Docker. */
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { startProcess } from './processes.js';
import type { Program, Server, Software } from './server.js';

/** Loaded only where it is needed, because the client of Docker takes 0.2 s of processor time. */
const containers = () => import('./containers.js');
const dockerAnswers = async (): Promise<boolean> => (await containers()).dockerAnswers();

/** Returns why the software can't run as processes here; undefined if it can. */
function lackingHere({ commands, folder }: Software): string | undefined {
  const missing = commands.filter((command) => !isOnPath(command));
  if (missing.length > 0) return `${missing.join(' and ')} not on the PATH`;
  if (!folder) return undefined;
  const path = process.env[folder.variable];
  if (!path) return `${folder.variable} not set`;
  return existsSync(path) ? undefined : `${folder.variable} names no folder`;
}

/** Returns whether the software runs here without Docker. */
export const isHere = (software: Software): boolean => lackingHere(software) === undefined;

/** Returns why the software can't be started; undefined if it can. */
export async function lacking(software: Software): Promise<string | undefined> {
  const reason = lackingHere(software);
  return reason && !(await dockerAnswers()) ? `${reason}, and no Docker engine answers` : undefined;
}

/**
 * Starts programs of one software, which reach each other on the loopback address; resolves when all of them answer.
 */
export async function run(programs: readonly Program[]): Promise<Server[]> {
  const { software } = programs[0]!;
  const reason = lackingHere(software);
  if (!reason) return allOrNone(programs.map(startProcess));
  if (await dockerAnswers()) return allOrNone(await (await containers()).startContainers(programs));
  throw new Error(`no ${software.name}: ${reason}, and no Docker engine answers`);
}

async function allOrNone(starting: readonly Promise<Server>[]): Promise<Server[]> {
  const outcomes = await Promise.allSettled(starting);
  const servers = outcomes.filter((outcome) => outcome.status === 'fulfilled').map(({ value }) => value);
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (!failure) return servers;
  await Promise.all(servers.map((server) => server.stop()));
  throw failure.reason;
}

function isOnPath(command: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
