/** Changes that a control makes by itself, without a form or dialog that says why one was refused. */
import { Failure, type Scope } from '../client/call';
import { useChange, useRefresh } from '../client/hooks';
import { useToasts } from './toasts';

/** Tests whether a refusal says that the page shows what is no longer so. */
const isOutOfDate = (error: unknown): boolean => error instanceof Failure && [404, 409, 412].includes(error.status);

/**
 * Returns what {@link useChange} does. A toast says why a change was refused: also one that another change followed, or
 * whose view was left. For those, the callbacks of `mutate` are not called, so `change` itself says what succeeded.
 */
export function useAction<Given, Result>(
  change: (given: Given, scope: Scope) => Promise<Result>,
  ...resources: string[]
) {
  const { complain } = useToasts();
  const refresh = useRefresh(...resources);
  return useChange(
    async (given: Given, scope) => {
      try {
        return await change(given, scope);
      } catch (error) {
        complain(error);
        if (isOutOfDate(error)) void refresh();
        throw error;
      }
    },
    ...resources,
  );
}
