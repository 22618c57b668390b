import { describe, expect, it, vi } from 'vitest';
import type { TrackReply } from '../pipeline/ports.js';
import { createWaiting } from './waiting.js';

const replyTimeoutMs = 1_000;

/** Returns a waiting list, and `reply`, which sends to the request with this `replyTo`. */
function newWaiting(maxWaitingRequests = 10) {
  let listener: (request: string, body: string) => void = () => {};
  const inbox = {
    address: 'here',
    onReply(onReply: typeof listener) {
      listener = onReply;
    },
  };
  const waiting = createWaiting({ inbox, replyTimeoutMs, maxWaitingRequests });
  const reply = (replyTo: string, recordId: string, result: TrackReply['result'] = 'applied') => {
    const body: TrackReply = { recordId, result, events: [] };
    listener(replyTo.slice('here/'.length), JSON.stringify(body));
  };
  return { waiting, reply };
}

const resultsOf = (replies: ReadonlyMap<string, TrackReply>) =>
  [...replies].map(([id, { result }]) => `${id} ${result}`);

describe('a waiting request', () => {
  it('ends with the last reply, whether it came before or after the wait began', async () => {
    const { waiting, reply } = newWaiting();
    const { replyTo, replies } = waiting.open();
    reply(replyTo, 'a');
    const both = replies(2);
    reply(replyTo, 'b');
    expect(resultsOf(await both)).toEqual(['a applied', 'b applied']);
  });

  it('counts a reply that arrives twice once, and takes the first', async () => {
    const { waiting, reply } = newWaiting();
    const { replyTo, replies } = waiting.open();
    const both = replies(2);
    const ended = vi.fn();
    void both.then(ended);
    reply(replyTo, 'a', 'applied');
    reply(replyTo, 'a', 'repeat');
    // Waits for one turn of the event loop: everything that was resolved has been reported.
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).not.toHaveBeenCalled();
    reply(replyTo, 'b');
    expect(resultsOf(await both)).toEqual(['a applied', 'b applied']);
  });

  it('ignores replies after its end, and those to other requests', async () => {
    const { waiting, reply } = newWaiting();
    const [ended, open] = [waiting.open(), waiting.open()];
    reply(ended.replyTo, 'a');
    const first = await ended.replies(1);
    ended.cancel();
    reply(ended.replyTo, 'b');
    reply('here/of an earlier run', 'c');
    expect(resultsOf(first)).toEqual(['a applied']);
    reply(open.replyTo, 'd');
    expect(resultsOf(await open.replies(1))).toEqual(['d applied']);
  });

  it('ends at the time limit with the replies that arrived', async () => {
    vi.useFakeTimers();
    try {
      const { waiting, reply } = newWaiting();
      const { replyTo, replies } = waiting.open();
      const both = replies(2);
      reply(replyTo, 'a');
      await vi.advanceTimersByTimeAsync(replyTimeoutMs);
      expect(resultsOf(await both)).toEqual(['a applied']);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is refused when too many wait, until one of them ends', () => {
    const { waiting } = newWaiting(1);
    const { cancel } = waiting.open();
    expect(() => waiting.open()).toThrow(expect.objectContaining({ code: 'overloaded' }));
    cancel();
    waiting.open().cancel();
  });
});
