/** Queries of analytics: a few at a time, because the server runs them one after the other and lets few wait. */
import { useQuery } from '@tanstack/react-query';
import { type Answer, callIn, Failure, type Input, type Operation } from '../client/call';
import { useScope } from '../state/session';

type AnalyticsOperation = Extract<Operation, `GET /v1/analytics/${string}`>;

const maxRunning = 3;
/** The server is busy, or starts its analytics. */
const maxRetriesOfBusy = 5;
const maxRetriesOfFault = 2;
const firstDelayMs = 1_500;

let running = 0;
const waiting: (() => void)[] = [];

/** Runs the work when fewer than {@link maxRunning} run. Skips it if nobody waits for it any more. */
async function inTurn<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
  if (running < maxRunning) running += 1;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    signal.throwIfAborted();
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

interface Options {
  readonly enabled?: boolean;
  /** How often to ask again; false: never. */
  readonly refetchInterval: number | false;
}

/** Keeps showing the previous answer of this project and environment while another range or filter loads. */
export function useAnalytics<O extends AnalyticsOperation>(operation: O, query: Input<O>['query'], options: Options) {
  const scope = useScope();
  return useQuery<Answer<O>>({
    queryKey: [scope, 'analytics', operation, query],
    queryFn: ({ signal }) => inTurn(signal, () => callIn(scope, operation, { query, signal } as unknown as Input<O>)),
    placeholderData: (previous, earlier) => (earlier?.queryKey[0] === scope ? previous : undefined),
    retry: (count, error) =>
      error instanceof Failure &&
      error.status >= 500 &&
      count < (error.status === 503 ? maxRetriesOfBusy : maxRetriesOfFault),
    retryDelay: (count) => firstDelayMs * 1.5 ** count,
    ...options,
  });
}
