/** Notifies all threads of the process when a topic has grown. Best effort: consumers also poll slowly. */
import { BroadcastChannel } from 'node:worker_threads';
import type { Topic } from '../../pipeline/ports.js';

/** Tells consumers of all threads that topics have grown. A lost message costs a delay, and no record. */
export interface Wakeups {
  /** Calls the listeners of these topics, here and in other threads that have the same folder open. */
  wake(topics: readonly Topic[]): void;
  /** Adds a listener. Returns a function that removes it. */
  listen(topic: Topic, listener: () => void): () => void;
  close(): void;
}

/**
 * Creates the wakeups of a thread for a folder. Each topic has a channel of its own, which a thread opens when it first
 * listens or wakes. So a message reaches only threads that know the topic: to wake a thread costs more than an append.
 */
export function createWakeups(path: string): Wakeups {
  const listeners = new Map<Topic, Set<() => void>>();
  const channels = new Map<Topic, BroadcastChannel>();

  function channelOf(topic: Topic): BroadcastChannel {
    const open = channels.get(topic);
    if (open !== undefined) return open;
    const channel = new BroadcastChannel(`fenceline-log:${path}:${topic}`);
    channel.unref();
    channel.onmessage = () => wakeHere(topic);
    channels.set(topic, channel);
    return channel;
  }

  function wakeHere(topic: Topic): void {
    for (const listener of listeners.get(topic) ?? []) listener();
  }

  return {
    wake(topics) {
      for (const topic of topics) {
        channelOf(topic).postMessage(null);
        wakeHere(topic);
      }
    },
    listen(topic, listener) {
      channelOf(topic);
      const set = listeners.get(topic) ?? new Set();
      listeners.set(topic, set.add(listener));
      return () => set.delete(listener);
    },
    close() {
      for (const channel of channels.values()) channel.close();
    },
  };
}
