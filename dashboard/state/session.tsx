/** The session of this browser, and the project and environment that it acts on. */
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react';
import type { Session } from '../../client/types';
import { call, type Environment, Failure, onSessionEnd, type Scope, setCallScope } from '../client/call';
import { forgetPictures } from './map-picture';
import { projectOf, type RememberedProject, rememberedSession, storedEnvironment } from './remembered';
import { forgetStored, readStored, writeStored } from './storage';
import { leave } from './unsaved';

export const sessionKey = ['session'] as const;

/** What is kept of the last session only says what to show, until the server has said who is signed in. */
function remember(session: Session | null): void {
  if (session === null) {
    forgetStored('session');
    forgetPictures();
  } else writeStored('session', JSON.stringify(session));
}

/** Puts another session in place, or none, and forgets all that the earlier one has read. */
export function replaceSession(client: QueryClient, session: Session | null): void {
  remember(session);
  client.setQueryData(sessionKey, session);
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
}

/** Resolves to null when nobody is signed in. */
async function loadSession(): Promise<Session | null> {
  try {
    const { session } = await call('GET /v1/session', {});
    remember(session);
    return session;
  } catch (error) {
    if (!(error instanceof Failure && error.status === 401)) throw error;
    remember(null);
    return null;
  }
}

/** Answers what is remembered at first, so that a view asks for its data without waiting for the session. */
export function useSession() {
  return useQuery<Session | null>({
    queryKey: sessionKey,
    queryFn: loadSession,
    staleTime: 60_000,
    retry: 1,
    initialData: rememberedSession,
    initialDataUpdatedAt: 0,
  });
}

interface Workspace {
  readonly session: Session;
  readonly project: RememberedProject;
  readonly environment: Environment;
  readonly isOwner: boolean;
  chooseProject(id: string): void;
  chooseEnvironment(environment: Environment): void;
}

const WorkspaceContext = createContext<Workspace | undefined>(undefined);

/** Returns the chosen project and environment. Only views inside {@link WorkspaceProvider} have one. */
export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (workspace === undefined) throw new Error('this view is outside of a workspace');
  return workspace;
}

/** Returns the part of a query's key that keeps the data of projects and environments apart. */
export function useScope(): Scope {
  const { project, environment } = useWorkspace();
  return useMemo(() => ({ project: project._id, environment }), [project._id, environment]);
}

interface Props {
  readonly session: Session;
  readonly children: ReactNode;
  /** Shown when the account belongs to no project. */
  readonly withoutProject: ReactNode;
}

export function WorkspaceProvider({ session, children, withoutProject }: Props) {
  const client = useQueryClient();
  // A project that nobody has chosen stays on the page, also if another one comes first in a later session.
  const [chosen, setChosen] = useState(() => readStored('project') ?? projectOf(session)?._id);
  const [environment, setEnvironment] = useState(storedEnvironment);
  const project = projectOf(session, chosen);

  useEffect(() => onSessionEnd(() => replaceSession(client, null)), [client]);
  // Children call the API while they render for the first time, so an effect would be too late.
  setCallScope(project && { project: project._id, environment });

  const chooseProject = useCallback((id: string) => {
    leave(() => {
      writeStored('project', id);
      setChosen(id);
    });
  }, []);
  const chooseEnvironment = useCallback((next: Environment) => {
    leave(() => {
      writeStored('environment', next);
      setEnvironment(next);
    });
  }, []);
  const workspace = useMemo<Workspace | undefined>(
    () =>
      project && { session, project, environment, isOwner: project.role === 'owner', chooseProject, chooseEnvironment },
    [session, project, environment, chooseProject, chooseEnvironment],
  );
  if (workspace === undefined) return withoutProject;
  return <WorkspaceContext.Provider value={workspace}>{children}</WorkspaceContext.Provider>;
}
