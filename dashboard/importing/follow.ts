/** Follows imports: one by the stream of its progress, and the files of its rows. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Import } from '../../client/types';
import { type Scope, send, urlOf } from '../client/call';
import { useApi } from '../client/hooks';
import { followStream } from '../client/stream';
import { useScope } from '../state/session';
import { firstRows, plannedRows, rejectedRows } from './rows';

/** Where the stream does not come through, the import is asked for. */
const pollEveryMs = 2_000;

/** Returns an import as of now, until it has ended. */
export function useImport(id: string) {
  const scope = useScope();
  const client = useQueryClient();
  const [isStreaming, setStreaming] = useState(false);
  const operation = 'GET /v1/imports/{id}';
  const input = { path: { id } };
  const loaded = useApi(operation, input, {
    refetchInterval: ({ state }) => (state.data?.import.status === 'running' && !isStreaming ? pollEveryMs : false),
  });
  const isRunning = loaded.data?.import.status === 'running';
  const resource = loaded.data?.import.resource;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key of the query follows from these
  useEffect(() => {
    if (!isRunning) return;
    void client.invalidateQueries({ queryKey: [scope, 'imports', 'GET /v1/imports'] });
    const key = [scope, 'imports', operation, input];
    const stop = followStream(
      `/v1/imports/${id}/stream`,
      {},
      {
        onState: (state) => setStreaming(state === 'open'),
        onMessage({ type, data }) {
          client.setQueryData(key, { meta: { code: 200 }, import: JSON.parse(data) as Import });
          if (type === 'end') stop();
        },
      },
    );
    return () => {
      stop();
      setStreaming(false);
      // It has ended, or nobody looks any more: the lists that show it are out of date.
      void client.invalidateQueries({ queryKey: [scope, 'imports'] });
      void client.invalidateQueries({ queryKey: [scope, resource] });
    };
  }, [client, scope, id, isRunning, resource]);
  return loaded;
}

async function loadText(scope: Scope, path: string, signal: AbortSignal): Promise<string> {
  const { body } = await send(urlOf(path, {}, scope), { signal }, (response) => response.text());
  return body;
}

/** Loads the rows of an import that has ended. */
export function useRows(ended: Import) {
  const scope = useScope();
  const { _id: id, plannedFile, rejectedFile } = ended;
  return useQuery({
    queryKey: [scope, 'import-rows', id],
    staleTime: Number.POSITIVE_INFINITY,
    enabled: ended.status !== 'running',
    queryFn: async ({ signal }) => {
      if (plannedFile === undefined && rejectedFile === undefined) return firstRows(ended);
      const [planned, rejected] = await Promise.all(
        [plannedFile, rejectedFile].map((path) => (path === undefined ? '' : loadText(scope, path, signal))),
      );
      return [...plannedRows(planned!), ...rejectedRows(rejected!)];
    },
  });
}
