/**
 * Tracks the requests that wait for the outcome of their locations: one entry per request, ended by the last reply, by
 * the time limit, or by a reply that does not fit into memory. Large replies are read in turns.
 */
import { createByteBudget } from '../http/connections/byte-budget.js';
import type { Inbox, TrackReply } from '../pipeline/ports.js';
import { createDeferred } from '../schemas/deferred.js';
import { charactersPerTurn, createTurns } from '../schemas/turns.js';
import { overloaded } from './intake.js';

/** Characters of the replies to one request. One location has about a megabyte at most, and a replay a thousand. */
export const maxReplyCharacters = 16 * 2 ** 20;
/** Of all requests that wait. A project has a quarter at most. */
const maxHeldCharacters = 256 * 2 ** 20;

interface WaitingOptions {
  readonly inbox: Inbox;
  readonly replyTimeoutMs: number;
  readonly maxWaitingRequests: number;
}

/** A request that waits for the replies to its locations, from its creation on. */
export interface Wait {
  /** The value of the locations' `replyTo`. */
  readonly replyTo: string;
  /** Resolves to `count` replies by record id, or to those that arrived in time and fit. Never rejects. */
  replies(count: number): Promise<ReadonlyMap<string, TrackReply>>;
  /** Stops waiting. */
  cancel(): void;
}

/** The requests of this node that wait for their replies. */
export interface Waiting {
  /** Throws `overloaded` when too many requests wait. Replies to the requests of a project share memory. */
  open(project: string): Wait;
}

class Entry {
  readonly project: string;
  readonly replies = new Map<string, TrackReply>();
  readonly ended = createDeferred();
  wanted = Number.POSITIVE_INFINITY;
  /** Characters of all replies, also of those that wait for their turn. */
  held = 0;

  constructor(project: string) {
    this.project = project;
  }

  add(body: string): void {
    const reply = JSON.parse(body) as TrackReply;
    // Replies may arrive twice: the first counts.
    if (this.replies.has(reply.recordId)) return;
    this.replies.set(reply.recordId, reply);
    this.endIfComplete();
  }

  endIfComplete(): void {
    if (this.replies.size >= this.wanted) this.ended.resolve();
  }
}

/** Creates the requests that wait on this node. A project may hold a quarter of the memory of replies. */
export function createWaiting({ inbox, replyTimeoutMs, maxWaitingRequests }: WaitingOptions): Waiting {
  const entries = new Map<string, Entry>();
  const budget = createByteBudget(maxHeldCharacters);
  const nextTurn = createTurns();
  let requests = 0;

  /** Counts a reply to a request. Returns false where it does not fit. */
  function hold(entry: Entry, { length }: string): boolean {
    const { project, held } = entry;
    if (held + length > maxReplyCharacters || !budget.fits(project, length, held)) return false;
    budget.add(project, length);
    entry.held += length;
    return true;
  }

  inbox.onReply((request, body) => {
    const entry = entries.get(request);
    if (entry === undefined) return;
    // Its events are on their topic. The request ends as after the time limit.
    if (!hold(entry, body)) return entry.ended.resolve();
    if (body.length <= charactersPerTurn) return entry.add(body);
    void nextTurn().then(() => {
      if (entries.has(request)) entry.add(body);
    });
  });

  return {
    open(project) {
      if (entries.size >= maxWaitingRequests) throw overloaded();
      requests += 1;
      const request = requests.toString(36);
      const entry = new Entry(project);
      const timer = setTimeout(entry.ended.resolve, replyTimeoutMs);
      entries.set(request, entry);
      return {
        replyTo: `${inbox.address}/${request}`,
        async replies(count) {
          entry.wanted = count;
          entry.endIfComplete();
          await entry.ended.promise;
          return entry.replies;
        },
        cancel() {
          clearTimeout(timer);
          if (entries.delete(request)) budget.remove(project, entry.held);
          entry.ended.resolve();
        },
      };
    },
  };
}
