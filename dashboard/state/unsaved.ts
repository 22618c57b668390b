/** Protects what a view holds: the user is asked before another view, project or environment opens. */
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { scopeIn } from './scope-address';

/** What a user loses who leaves: changes that are not saved, a secret that is shown once, or the answer to a change. */
export type Loss = 'changes' | 'secret' | 'answer';

type Held = Map<symbol, Loss>;
const inViews: Held = new Map();
/** A modal dialog covers the rest of the page, so only the browser and its own buttons leave it. */
const inDialogs: Held = new Map();

/** A question, and what follows if the user agrees. */
interface Question {
  readonly loss: Loss;
  readonly proceed: () => void;
}

const listeners = new Set<() => void>();
let waiting: Question | undefined;

function wait(next: Question | undefined): void {
  waiting = next;
  for (const listener of listeners) listener();
}

/** Returns whether a view or its dialog has something that is not saved. */
export const hasUnsaved = (): boolean => [...inViews.values(), ...inDialogs.values()].some((loss) => loss !== 'answer');

/** Calls `proceed` when the user agrees to the loss. */
export const ask = (loss: Loss, proceed: () => void): void => wait({ loss, proceed });

/** Calls `proceed` at once, or when the user agrees to lose what is not saved in the view. */
export function leave(proceed: () => void): void {
  if (inViews.size === 0) proceed();
  else ask('changes', proceed);
}

/** Notes a loss. @returns what ends this. */
function hold(held: Held, loss: Loss): () => void {
  const key = Symbol();
  held.set(key, loss);
  const keep = (event: BeforeUnloadEvent) => event.preventDefault();
  addEventListener('beforeunload', keep);
  return () => {
    held.delete(key);
    removeEventListener('beforeunload', keep);
    // The answer came, or the changes were saved, while the user was asked.
    if (waiting !== undefined && inViews.size + inDialogs.size === 0) wait(undefined);
  };
}

/**
 * Asks before the view is left as long as it has something that is not saved.
 * @returns what ends this at once, for a view that is left in the moment in which its changes are saved or given up.
 */
export function useUnsaved(isUnsaved: boolean): () => void {
  const forget = useRef(() => {});
  useEffect(() => {
    if (!isUnsaved) return;
    forget.current = hold(inViews, 'changes');
    return forget.current;
  }, [isUnsaved]);
  return () => forget.current();
}

/** Asks before Back, Forward or a reload leave a modal dialog, as long as something is lost with it. */
export function useHeld(loss: Loss | undefined): void {
  useEffect(() => loss && hold(inDialogs, loss), [loss]);
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
    const loss = [...inViews.values(), ...inDialogs.values()].at(-1);
    if (navigationType !== 'traverse' || !cancelable || isAgreed || !loss || isSameView(destination.url)) return;
    event.preventDefault();
    ask(loss, () => {
      agreedKey = destination.key;
      navigation.traverseTo(destination.key);
    });
  });
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns the question that waits for an answer, and the two answers; undefined: nothing waits. */
export function useWaiting(): { readonly loss: Loss; proceed(): void; stay(): void } | undefined {
  const question = useSyncExternalStore(subscribe, () => waiting);
  return (
    question && {
      loss: question.loss,
      proceed() {
        wait(undefined);
        question.proceed();
      },
      stay: () => wait(undefined),
    }
  );
}
