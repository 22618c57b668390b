/** How the clients of Kafka, Redis and ClickHouse report what they do, for metrics. */

/** Observes one client, or all clients of one service. */
export interface ClientObserver {
  /** Called when a request starts, with its name in the service. Call the result once, when the request has ended. */
  started(operation: string): (hasFailed: boolean) => void;
  /** Called with 1 and -1 as connections open and close. */
  connections(change: 1 | -1): void;
}

const ignoreEnd = (): void => {};

/** Observes nothing. */
export const noObserver: ClientObserver = { started: () => ignoreEnd, connections() {} };

/** Observes a request until its promise settles. */
export function observed<Answer>(
  observer: ClientObserver,
  operation: string,
  send: () => Promise<Answer>,
): Promise<Answer> {
  const end = observer.started(operation);
  const answer = send();
  answer.then(
    () => end(false),
    () => end(true),
  );
  return answer;
}
