/** Notifies all threads of the process when a topic has grown. Best effort: consumers also poll slowly. */
import { BroadcastChannel } from 'node:worker_threads';
import type { Topic } from '../../pipeline/ports.js';

export interface Wakeups {
  /** Calls the listeners of these topics, here and in other threads that have the same folder open. */
  wake(topics: readonly Topic[]): void;
  /** Adds a listener. Returns a function that removes it. */
  listen(topic: Topic, listener: () => void): () => void;
  close(): void;
}

export function createWakeups(path: string): Wakeups {
  const listeners = new Map<Topic, Set<() => void>>();
  const channel = new BroadcastChannel(`fenceline-log:${path}`);
  channel.unref();
  channel.onmessage = (message) => wakeHere((message as { data: Topic[] }).data);

  function wakeHere(topics: readonly Topic[]): void {
    for (const topic of topics) for (const listener of listeners.get(topic) ?? []) listener();
  }

  return {
    wake(topics) {
      channel.postMessage(topics);
      wakeHere(topics);
    },
    listen(topic, listener) {
      const set = listeners.get(topic) ?? new Set();
      listeners.set(topic, set.add(listener));
      return () => set.delete(listener);
    },
    close: () => channel.close(),
  };
}
