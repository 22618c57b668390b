/** One replay at a time: it is started, polled, and cancelled when nobody would see its result. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Operations, Replay } from '../../client/types';
import { callIn, isNotFound, isRepetition, type Scope } from '../client/call';
import { useChange } from '../client/hooks';
import { isEqual } from '../forms/draft';
import { useScope } from '../state/session';

const pollMs = 700;

const cancelReplay = (scope: Scope, id: string): void =>
  void callIn(scope, 'DELETE /v1/replays/{id}', { path: { id } }).catch(() => {});

/**
 * Cancels the replay that is under way when the view or the page is left: nobody would see its result.
 * @param id undefined: none is under way.
 * @returns whether the view was left.
 */
function useCancelAtEnd(id: string | undefined): { readonly current: boolean } {
  const scope = useScope();
  const isLeft = useRef(false);
  const cancel = useRef(() => {});
  cancel.current = () => id !== undefined && cancelReplay(scope, id);
  useEffect(() => {
    isLeft.current = false;
    const leave = () => cancel.current();
    addEventListener('pagehide', leave);
    return () => {
      isLeft.current = true;
      removeEventListener('pagehide', leave);
      leave();
    };
  }, []);
  return isLeft;
}

type ReplayBody = Operations['POST /v1/replays']['body'];

/** What is replayed. The range ends when it is sent, so that the same question is the same change. */
type Asked = Omit<ReplayBody, 'from'> & { readonly days: number };

const dayMs = 86_400_000;

interface ReplayRun {
  /** Undefined before its first answer. */
  readonly replay: Replay | undefined;
  readonly isBusy: boolean;
  /** Why it was not started. */
  readonly startError: Error | null;
  /** Why its progress is not known. */
  readonly error: Error | null;
  start(asked: Asked): void;
}

/** Starts replays, one at a time, and polls the present one until its end. */
export function useReplayRun(): ReplayRun {
  const scope = useScope();
  const [id, setId] = useState<string>();
  const last = useRef<{ readonly asked: Asked; readonly body: ReplayBody }>(undefined);
  const start = useChange(async (asked: Asked, scope) => {
    const { days, ...rest } = asked;
    const before = last.current;
    // After a request without an answer, the same one gets the replay that the first has started.
    const body: ReplayBody =
      before && isEqual(before.asked, asked) && isRepetition(scope, 'POST /v1/replays', { body: before.body })
        ? before.body
        : { ...rest, from: new Date(Date.now() - days * dayMs).toISOString() };
    last.current = { asked, body };
    const answer = await callIn(scope, 'POST /v1/replays', { body });
    if (isLeft.current) cancelReplay(scope, answer.replay._id);
    return answer;
  });
  const running = useQuery({
    queryKey: [scope, 'replays', id],
    enabled: id !== undefined,
    queryFn: ({ signal }) => callIn(scope, 'GET /v1/replays/{id}', { path: { id: id! }, signal }),
    refetchInterval: ({ state }) =>
      !isNotFound(state.error) && (state.data?.replay.status ?? 'running') === 'running' ? pollMs : false,
  });
  // A replay is kept for an hour. A computer may sleep for longer.
  const replay = isNotFound(running.error) ? undefined : running.data?.replay;
  const isRunning = replay?.status === 'running' || (id !== undefined && replay === undefined && !running.error);
  const isLeft = useCancelAtEnd(isRunning ? id : undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a replay belongs to its environment
  useEffect(() => setId(undefined), [scope]);
  return {
    replay,
    isBusy: start.isPending || isRunning,
    startError: start.error,
    error: running.error,
    start: (asked) => start.mutate(asked, { onSuccess: ({ replay }) => setId(replay._id) }),
  };
}
