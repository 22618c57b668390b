/** Queries and changes of the API as hooks. Keys contain project and environment, so their data never mix. */
import {
  keepPreviousData,
  type Query,
  type UseQueryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Operations } from '../../client/types';
import { useScope } from '../state/session';
import { type Answer, callIn, type Input, type Operation, type Scope } from './call';

type QueryOptions<O extends Operation> = Pick<
  UseQueryOptions<Answer<O>>,
  'enabled' | 'refetchInterval' | 'staleTime' | 'gcTime' | 'placeholderData'
>;

/**
 * Options of a record that a form edits. It is read when the form opens, because an earlier revision could not be
 * saved, and not again while the user edits.
 */
export const forEditing = { staleTime: Number.POSITIVE_INFINITY, gcTime: 0 } as const;

/** The first part of the path names the resource, so that a change can refresh all that shows it. */
const resourceOf = (operation: Operation): string => operation.split(' ')[1]!.split('/')[2] ?? operation;

/**
 * Reads from the API in the present scope. Another scope or input is another query, and none is asked twice at once.
 */
export function useApi<O extends Operation>(operation: O, input: Input<O>, options: QueryOptions<O> = {}) {
  const scope = useScope();
  return useQuery<Answer<O>>({
    queryKey: [scope, resourceOf(operation), operation, input],
    queryFn: ({ signal, client, queryKey }) =>
      // A refresh of shown data may wait for data that is not shown yet.
      callIn(scope, operation, { ...input, signal }, client.getQueryData(queryKey) === undefined ? 'auto' : 'low'),
    ...options,
  });
}

/** The operations that answer pages. */
type Paged = {
  [O in Operation]: 'cursor' extends keyof Operations[O]['query'] ? O : never;
}[Operation];

/** Loads pages of a list on demand, and keeps showing the previous list while another filter loads. */
export function usePages<O extends Paged>(
  operation: O,
  input: Input<O>,
  options: { refetchInterval?: number; staleTime?: number; enabled?: boolean } = {},
) {
  const scope = useScope();
  return useInfiniteQuery({
    queryKey: [scope, resourceOf(operation), operation, input, 'pages'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) => {
      const query = { ...(input as { query?: object }).query, cursor: pageParam };
      return callIn(scope, operation, { ...input, query, signal } as Input<O>);
    },
    getNextPageParam: (page: Answer<O>) => {
      const { meta } = page as { meta: { hasMore: boolean; cursor?: string } };
      return meta.hasMore ? meta.cursor : undefined;
    },
    placeholderData: keepPreviousData,
    ...options,
  });
}

/** What is known of the pages of a list. */
export interface Pages {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly error: unknown;
  fetchNextPage(): unknown;
}

/** The next page loads before the reader comes to the end. */
const rowsAhead = 40;

/**
 * Loads the next pages while the reader scrolls through the rows. After a page that failed, the reader asks again: to
 * repeat what the server refuses would never end.
 *
 * @returns what takes the number of the last row in sight.
 */
export function useNextPages(pages: Pages, rowCount: number): (lastIndex: number) => void {
  const { hasNextPage, isFetchingNextPage, error, fetchNextPage } = pages;
  const [lastShown, setLastShown] = useState(0);
  useEffect(() => {
    // A page of a search may be empty before the end.
    const isNearEnd = lastShown >= rowCount - rowsAhead;
    if (isNearEnd && hasNextPage && !isFetchingNextPage && error === null) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, error, fetchNextPage, rowCount, lastShown]);
  return setLastShown;
}

/** They are in the record of the project, so a change of one of them gives all of them another revision. */
const partsOfProject: readonly string[] = ['projects', 'settings', 'members', 'invitations'];

/** Returns the test for queries of the resources, and of what shares a record with them in both environments. */
function touchedBy(resources: readonly string[], scope: Scope) {
  const isOfProject = resources.some((resource) => partsOfProject.includes(resource));
  return ({ queryKey: [of, resource] }: Query): boolean => {
    const { project, environment } = of as Partial<Scope>;
    if (project !== scope.project) return false;
    if (isOfProject && partsOfProject.includes(resource as string)) return true;
    return environment === scope.environment && resources.includes(resource as string);
  };
}

/** Returns what reads the named resources again, wherever they are shown. */
export function useRefresh(...resources: string[]): () => Promise<void> {
  const client = useQueryClient();
  const scope = useScope();
  return () => client.invalidateQueries({ predicate: touchedBy(resources, scope) });
}

/**
 * Returns a mutation that refreshes the named resources when it has succeeded. Changes are sent one after the other, so
 * that of two the later one counts. While the last one runs, the same change is not sent again: a second click may come
 * before the button is disabled.
 *
 * @param change gets the scope in which it was started, for {@link callIn}.
 */
export function useChange<Given, Result>(
  change: (given: Given, scope: Scope) => Promise<Result>,
  ...resources: string[]
) {
  const refresh = useRefresh(...resources);
  const scope = useScope();
  const last = useRef<{ readonly name: string; readonly sent: Promise<Result> }>(undefined);
  return useMutation({
    mutationFn: (given: Given) => {
      const name = JSON.stringify(given) ?? '';
      const before = last.current;
      if (before?.name === name) return before.sent;
      const send = () => change(given, scope);
      const sent = before ? before.sent.then(send, send) : send();
      const own = { name, sent };
      last.current = own;
      const forget = () => {
        if (last.current === own) last.current = undefined;
      };
      sent.then(forget, forget);
      return sent;
    },
    // A change fails at once while the server is unreachable, instead of happening at some later moment.
    networkMode: 'always',
    // Only then: a form whose change was refused keeps what its user has written.
    onSuccess: refresh,
  });
}
