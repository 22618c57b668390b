/**
 * Tells every thread of the process that a topic has grown, so that consumers need not poll. Best effort: they poll
 * slowly as well.
 */
import { BroadcastChannel } from 'node:worker_threads';
import type { Topic } from '../../pipeline/ports.js';

export interface Wakeups {
  /** Wakes the listeners of these topics, here and in other threads that have the same folder open. */
  wake(topics: readonly Topic[]): void;
  /** Answers how to stop listening. */
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
