/**
 * Tracks the requests that wait for the outcome of their locations: one entry per request, ended by the last reply or
 * by the time limit.
 */
import type { Inbox, TrackReply } from '../pipeline/ports.js';
import { overloaded } from './intake.js';

export interface WaitingOptions {
  readonly inbox: Inbox;
  readonly replyTimeoutMs: number;
  readonly maxWaitingRequests: number;
}

/** A request that waits for the replies to its locations, from its creation on. */
export interface Wait {
  /** The value of the locations' `replyTo`. */
  readonly replyTo: string;
  /** Resolves to `count` replies by record id, or to those that arrived in time. Never rejects. */
  replies(count: number): Promise<ReadonlyMap<string, TrackReply>>;
  /** Stops waiting. */
  cancel(): void;
}

export interface Waiting {
  /** Throws `overloaded` when too many requests wait. */
  open(): Wait;
}

class Entry {
  readonly replies = new Map<string, TrackReply>();
  readonly ended: Promise<void>;
  wanted = Number.POSITIVE_INFINITY;
  end: () => void = () => {};

  constructor() {
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  endIfComplete(): void {
    if (this.replies.size >= this.wanted) this.end();
  }
}

export function createWaiting({ inbox, replyTimeoutMs, maxWaitingRequests }: WaitingOptions): Waiting {
  const entries = new Map<string, Entry>();
  let requests = 0;

  inbox.onReply((request, body) => {
    const entry = entries.get(request);
    if (entry === undefined) return;
    const reply = JSON.parse(body) as TrackReply;
    // Replies may arrive twice: the first counts.
    if (entry.replies.has(reply.recordId)) return;
    entry.replies.set(reply.recordId, reply);
    entry.endIfComplete();
  });

  return {
    open() {
      if (entries.size >= maxWaitingRequests) throw overloaded();
      requests += 1;
      const request = requests.toString(36);
      const entry = new Entry();
      const timer = setTimeout(entry.end, replyTimeoutMs);
      entries.set(request, entry);
      return {
        replyTo: `${inbox.address}/${request}`,
        async replies(count) {
          entry.wanted = count;
          entry.endIfComplete();
          await entry.ended;
          return entry.replies;
        },
        cancel() {
          clearTimeout(timer);
          entries.delete(request);
          entry.end();
        },
      };
    },
  };
}
