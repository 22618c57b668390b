/** Changes that a control makes by itself, without a form or dialog that says why one was refused. */
import type { Scope } from '../client/call';
import { useChange } from '../client/hooks';
import { useToasts } from './toasts';

/**
 * Returns what {@link useChange} does. A toast says why a change was refused: also one that another change followed, or
 * whose view was left. For those, the callbacks of `mutate` are not called, so `change` itself says what succeeded.
 */
export function useAction<Given, Result>(
  change: (given: Given, scope: Scope) => Promise<Result>,
  ...resources: string[]
) {
  const { complain } = useToasts();
  return useChange(
    async (given: Given, scope) => {
      try {
        return await change(given, scope);
      } catch (error) {
        complain(error);
        throw error;
      }
    },
    ...resources,
  );
}
