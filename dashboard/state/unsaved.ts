/** Protects unsaved changes: the user is asked before another view, project or environment opens. */
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { scopeIn } from './scope-address';

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

/** Tests whether the present view, with what is typed in it, is at the address too. */
function isSameView(address: string): boolean {
  const { pathname, search } = new URL(address);
  const [here, there] = [scopeIn(location.search), scopeIn(search)];
  return pathname === location.pathname && here.project === there.project && here.environment === there.environment;
}

/**
 * Asks before the browser's Back and Forward leave unsaved changes. Browsers that let no page ask leave at once. The
 * others let it ask once until the user does something on the page, so that a page can hold nobody.
 */
export function guardHistory(): void {
  if (!('navigation' in window)) return;
  const { navigation } = window;
  let agreedKey: string | undefined;
  navigation.addEventListener('navigate', (event) => {
    const { navigationType, cancelable, destination } = event;
    const isAgreed = destination.key === agreedKey;
    agreedKey = undefined;
    if (navigationType !== 'traverse' || !cancelable || isAgreed || !hasUnsaved() || isSameView(destination.url))
      return;
    event.preventDefault();
    leave(() => {
      agreedKey = destination.key;
      navigation.traverseTo(destination.key);
    });
  });
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
