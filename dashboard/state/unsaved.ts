/** Protects unsaved changes: the user is asked before another view, project or environment opens. */
import { useEffect, useRef, useSyncExternalStore } from 'react';

const unsaved = new Set<symbol>();
const listeners = new Set<() => void>();
let waiting: (() => void) | undefined;

function wait(next: (() => void) | undefined): void {
  waiting = next;
  for (const listener of listeners) listener();
}

/** Returns whether a view has something that is not saved. */
export const hasUnsaved = (): boolean => unsaved.size > 0;

/** Calls `proceed` at once, or when the user agrees to lose what is not saved. */
export function leave(proceed: () => void): void {
  if (!hasUnsaved()) proceed();
  else wait(() => proceed());
}

/**
 * Asks before the view is left as long as it has something that is not saved.
 * @returns what ends this at once, for a view that is left in the moment in which its changes are saved or given up.
 */
export function useUnsaved(isUnsaved: boolean): () => void {
  const forget = useRef(() => {});
  useEffect(() => {
    if (!isUnsaved) return;
    const key = Symbol();
    unsaved.add(key);
    const keep = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', keep);
    forget.current = () => {
      unsaved.delete(key);
      removeEventListener('beforeunload', keep);
    };
    return forget.current;
  }, [isUnsaved]);
  return () => forget.current();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns what waits for an answer, and the two answers; undefined: nothing waits. */
export function useWaiting(): { proceed(): void; stay(): void } | undefined {
  const proceed = useSyncExternalStore(subscribe, () => waiting);
  return (
    proceed && {
      proceed() {
        wait(undefined);
        proceed();
      },
      stay: () => wait(undefined),
    }
  );
}
