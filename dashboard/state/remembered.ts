/** What the browser keeps of the last session: it says what to show until the server has said who is signed in. */
import type { Session } from '../../client/types';
import type { Environment, Scope } from '../client/call';
import { readStored } from './storage';

export type RememberedProject = Session['projects'][number];

/** Returns nothing for a session without projects, which shows nothing. */
export function rememberedSession(): Session | undefined {
  try {
    const { projects, ...rest } = JSON.parse(readStored('session') ?? '') as Session;
    return projects.length > 0 ? { projects, ...rest } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the chosen project, or the first one. */
export const projectOf = ({ projects }: Session, chosen = readStored('project')): RememberedProject | undefined =>
  projects.find(({ _id }) => _id === chosen) ?? projects[0];

export const storedEnvironment = (): Environment => (readStored('environment') === 'live' ? 'live' : 'test');

/** Returns what the page will act on, if it knows already. */
export function rememberedScope(): Scope | undefined {
  const session = rememberedSession();
  const project = session && projectOf(session);
  return project && { project: project._id, environment: storedEnvironment() };
}
