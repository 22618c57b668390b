/** Signals that end a command which has something to tidy up or to say first. */
import { onEndSignal } from '../schemas/end-signals.js';
import { printable } from '../server/terminal-text.js';
import { Interruption } from './interruption.js';

interface Interruptible {
  /** Aborts with an {@link Interruption} on the first signal that ends processes. A second one exits at once. */
  readonly signal: AbortSignal;
  /** Stops listening. */
  release(): void;
}

/** Exits by itself: the system's default would leave what `tidyOnExit` removes, and say nothing. */
function exitAtOnce({ message, status }: Interruption): never {
  console.error(`fenceline: ${printable(message)}`);
  process.exit(status);
}

/** Listens for signals that end processes. `consequence` says then what the interrupted command leaves. */
export function interruptible(consequence: () => string): Interruptible {
  const interrupted = new AbortController();
  const release = onEndSignal((name) => {
    const interruption = new Interruption(name, consequence());
    if (interrupted.signal.aborted) exitAtOnce(interruption);
    interrupted.abort(interruption);
  });
  return { signal: interrupted.signal, release };
}
