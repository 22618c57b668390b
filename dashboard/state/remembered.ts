/** What the browser keeps of the last session: it says what to show until the server has said who is signed in. */
import type { Session } from '../../client/types';
import type { Environment, Scope } from '../client/call';
import { scopeIn } from './scope-address';
import { readStored } from './storage';

export type RememberedProject = Session['projects'][number];

/** Returns nothing for a session that has no project to show. */
export function rememberedSession(): Session | undefined {
  try {
    const session = JSON.parse(readStored('session') ?? '') as Session;
    return projectOf(session, scopeIn(location.search).project) && session;
  } catch {
    return undefined;
  }
}

/** Returns the named project if the session has it. An address that names none gets the last chosen, or the first. */
export function projectOf({ projects }: Session, named: string | undefined): RememberedProject | undefined {
  const wanted = named ?? readStored('project');
  return projects.find(({ _id }) => _id === wanted) ?? (named === undefined ? projects[0] : undefined);
}

/** Returns the environment that this browser chose last; `test` if none. */
export const storedEnvironment = (): Environment => (readStored('environment') === 'live' ? 'live' : 'test');

/** Returns what the page will act on, if it knows already. */
export function rememberedScope(): Scope | undefined {
  const session = rememberedSession();
  const named = scopeIn(location.search);
  const project = session && projectOf(session, named.project);
  return project && { project: project._id, environment: named.environment ?? storedEnvironment() };
}
