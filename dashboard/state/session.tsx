/** The session of this browser, and the project and environment that it acts on. */
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useSyncExternalStore,
} from 'react';
import { navigate, useSearch } from 'wouter/use-browser-location';
import type { Session } from '../../client/types';
import {
  call,
  callLast,
  type Environment,
  Failure,
  onRefusedRole,
  onSessionEnd,
  type Scope,
  setCallScope,
} from '../client/call';
import { forgetPictures } from './map-picture';
import { projectOf, type RememberedProject, rememberedSession, storedEnvironment } from './remembered';
import { scopeIn, withScope } from './scope-address';
import { forgetStored, onStoredElsewhere, writeStored } from './storage';
import { hasUnsaved, leave } from './unsaved';

/** The key of the session among queries. */
export const sessionKey = ['session'] as const;

/** What is kept of the last session only says what to show, until the server has said who is signed in. */
function remember(session: Session | null): void {
  if (session === null) {
    forgetStored('session');
    forgetPictures();
  } else writeStored('session', JSON.stringify(session));
}

/** What a page says after a change of the password, which gives this browser another session. */
export const passwordIsChanged = 'The password is changed. All other sessions have ended.';

/** Puts another session in place, or none, and forgets all that the earlier one has read. */
export function replaceSession(client: QueryClient, session: Session | null): void {
  remember(session);
  if (session !== null) setEnd(undefined);
  client.setQueryData(sessionKey, session);
  forgetRead(client);
}

/** Forgets all that a session has read. */
function forgetRead(client: QueryClient): void {
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
}

/** Ends the session of this browser, or all sessions of its account, and leads to the sign-in. */
export async function signOut(client: QueryClient, isEverywhere: boolean): Promise<void> {
  try {
    const done = { meta: { code: 200 } };
    await callLast(undefined, 'POST /v1/signout', { body: { everywhere: isEverywhere } }, async () => done);
  } catch (error) {
    // It had ended already. An account whose other sessions are to end must sign in first.
    if (isEverywhere || !(error instanceof Failure && error.status === 401)) throw error;
  }
  setEnd(undefined);
  replaceSession(client, null);
  navigate('/');
}

/** How the last session ended: `kept` while the view that it leaves has unsaved changes; undefined: it did not end. */
type SessionEnd = 'kept' | 'left' | undefined;

let end: SessionEnd;
const listeners = new Set<() => void>();

function setEnd(next: SessionEnd): void {
  end = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns how the last session ended, until there is another one. */
export const useSessionEnd = (): SessionEnd => useSyncExternalStore(subscribe, () => end);

/** Ends the question for the password, until another call is refused. */
export const dismissSessionEnd = (): void => setEnd(undefined);

/** Puts a session of the same account in place, and leaves the view with what is typed in it. */
export function resumeSession(client: QueryClient, session: Session): void {
  remember(session);
  client.setQueryData(sessionKey, session);
  setEnd(undefined);
  // Queries with an answer are not repeated, because another revision of a record would replace its form.
  void client.invalidateQueries({ predicate: ({ state }) => state.status === 'error' });
}

/** Shows the sign-in, unless that would lose unsaved changes. */
function endSession(client: QueryClient): void {
  setEnd(hasUnsaved() ? 'kept' : 'left');
  if (end === 'left') replaceSession(client, null);
}

/** Resolves to null when nobody is signed in, or to the earlier session while its view has unsaved changes. */
async function loadSession(client: QueryClient): Promise<Session | null> {
  try {
    const { session } = await call('GET /v1/session', {});
    remember(session);
    setEnd(undefined);
    return session;
  } catch (error) {
    if (!(error instanceof Failure && error.status === 401)) throw error;
    const earlier = client.getQueryData<Session | null>(sessionKey);
    if (earlier) setEnd(hasUnsaved() ? 'kept' : 'left');
    if (earlier && end === 'kept') return earlier;
    remember(null);
    forgetRead(client);
    return null;
  }
}

/** Asks who is signed in when another tab of this browser has signed in or out: all of them share one session. */
export function useSharedSession(): void {
  const client = useQueryClient();
  useEffect(
    () =>
      onStoredElsewhere('session', (before, now) => {
        // Other changes of what is remembered, such as the name of a project, are each tab's own.
        if (before === null || now === null) void client.refetchQueries({ queryKey: sessionKey });
      }),
    [client],
  );
}

/** Answers what is remembered at first, so that a view asks for its data without waiting for the session. */
export function useSession() {
  return useQuery<Session | null>({
    queryKey: sessionKey,
    queryFn: ({ client }) => loadSession(client),
    staleTime: 60_000,
    retry: 1,
    initialData: rememberedSession,
    initialDataUpdatedAt: 0,
  });
}

/** What people call the environments. */
export const environmentNames: Readonly<Record<Environment, string>> = { test: 'Test', live: 'Live' };

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
  /** Whether the server has said who is signed in. Until then the session is the one that the browser remembers. */
  readonly isConfirmed: boolean;
  readonly children: ReactNode;
  /** Shown when the account belongs to no project, or not to the one that the address names. */
  readonly withoutProject: ReactNode;
}

/** Shows the present view in another project or environment. Back returns to the present one. */
function showIn(part: Partial<Scope>): void {
  const { pathname, search } = location;
  navigate(withScope(pathname + search, { ...scopeIn(search), ...part }));
}

/**
 * Chooses the project and environment by the address, by the last choice, or the first project, and gives them to the
 * calls of all views.
 */
export function WorkspaceProvider({ session, isConfirmed, children, withoutProject }: Props) {
  const client = useQueryClient();
  const named = scopeIn(useSearch());
  const project = projectOf(session, named.project);
  const environment = named.environment ?? storedEnvironment();
  const id = project?._id;

  useEffect(() => onSessionEnd(() => endSession(client)), [client]);
  // Somebody has changed the role: controls that may no longer be used must go.
  useEffect(() => onRefusedRole(() => void client.invalidateQueries({ queryKey: sessionKey })), [client]);
  // Children call the API while they render for the first time, so an effect would be too late.
  setCallScope(project && { project: project._id, environment });
  // A layout effect: the address names both before its reader can copy it, or another tab chooses something else.
  useLayoutEffect(() => {
    const { pathname, search, hash } = location;
    const here = scopeIn(search);
    if (id === undefined || (here.project !== undefined && here.environment !== undefined)) return;
    // The session may have just ended.
    if (!isConfirmed || client.getQueryData(sessionKey) !== session) return;
    const scope = { project: here.project ?? id, environment: here.environment ?? environment };
    navigate(withScope(pathname + search + hash, scope), { replace: true, state: history.state });
  });

  const chooseProject = useCallback((project: string) => {
    leave(() => {
      writeStored('project', project);
      showIn({ project });
    });
  }, []);
  const chooseEnvironment = useCallback((environment: Environment) => {
    leave(() => {
      writeStored('environment', environment);
      showIn({ environment });
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
