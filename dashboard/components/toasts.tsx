/** Short messages about what has happened, read aloud politely. */
import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react';
import { Button } from './controls';
import { capitalized } from './counts';
import { Icon } from './icons';

interface Toast {
  readonly id: number;
  readonly tone: 'success' | 'danger';
  readonly text: string;
}

interface Toasts {
  say(text: string): void;
  complain(problem: unknown): void;
}

const Context = createContext<Toasts | undefined>(undefined);
const shownMs = 6_000;
const maxShown = 4;

/** Returns what a problem says, as a sentence. The API begins in lower case, and ends without a full stop. */
export function messageOf(problem: unknown): string {
  const message = problem instanceof Error ? problem.message : String(problem);
  const end = /[.!?…]$/.test(message) ? '' : '.';
  return capitalized(message) + end;
}

/** Returns what shows a message. It stays when the view that called it is left. */
export function useToasts(): Toasts {
  const toasts = useContext(Context);
  if (toasts === undefined) throw new Error('there is no place for messages');
  return toasts;
}

/** Shows the newest four messages. Successes go away after six seconds; failures stay until they are dismissed. */
export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [shown, setShown] = useState<readonly Toast[]>([]);
  const nextId = useRef(0);
  const remove = useCallback((id: number) => setShown((all) => all.filter((toast) => toast.id !== id)), []);
  const add = useCallback(
    (tone: Toast['tone'], text: string) => {
      nextId.current += 1;
      const id = nextId.current;
      setShown((all) => [...all.slice(1 - maxShown), { id, tone, text }]);
      // Failures stay until they are dismissed: they may be read later.
      if (tone === 'success') setTimeout(() => remove(id), shownMs);
    },
    [remove],
  );
  const toasts = useMemo<Toasts>(
    () => ({ say: (text) => add('success', text), complain: (problem) => add('danger', messageOf(problem)) }),
    [add],
  );
  return (
    <Context.Provider value={toasts}>
      {children}
      {/* Without the attribute, each message is read again with the next one. */}
      <div className="toasts" role="status" aria-atomic="false">
        {shown.map(({ id, tone, text }) => (
          <div key={id} className={`toast ${tone}`}>
            <span className="toast-icon">
              <Icon name={tone === 'success' ? 'check' : 'warning'} />
            </span>
            <p>{text}</p>
            <Button isCompact look="plain" icon="close" aria-label="Dismiss" onClick={() => remove(id)} />
          </div>
        ))}
      </div>
    </Context.Provider>
  );
}
