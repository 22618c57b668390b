/** Protects unsaved changes: the user is asked before another view, project or environment opens. */
import { useEffect, useSyncExternalStore } from 'react';

const unsaved = new Set<symbol>();
const listeners = new Set<() => void>();
let waiting: (() => void) | undefined;

function wait(next: (() => void) | undefined): void {
  waiting = next;
  for (const listener of listeners) listener();
}

/** Calls `proceed` at once, or when the user agrees to lose what is not saved. */
export function leave(proceed: () => void): void {
  if (unsaved.size === 0) proceed();
  else wait(() => proceed());
}

/** Asks before the view is left as long as it has something that is not saved. */
export function useUnsaved(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return;
    const key = Symbol();
    unsaved.add(key);
    const keep = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', keep);
    return () => {
      unsaved.delete(key);
      removeEventListener('beforeunload', keep);
    };
  }, [isUnsaved]);
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
