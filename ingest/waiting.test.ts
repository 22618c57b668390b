import { describe, expect, it, vi } from 'vitest';
import type { TrackReply } from '../pipeline/ports.js';
import { createWaiting, maxReplyCharacters } from './waiting.js';

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
  const reply = (replyTo: string, recordId: string, result: TrackReply['result'] = 'applied', padding = 0) => {
    const body: TrackReply = { recordId, result, events: [] };
    listener(replyTo.slice('here/'.length), JSON.stringify(body) + ' '.repeat(padding));
  };
  return { waiting, reply };
}

const resultsOf = (replies: ReadonlyMap<string, TrackReply>) =>
  [...replies].map(([id, { result }]) => `${id} ${result}`);

describe('a waiting request', () => {
  it('ends with the last reply, whether it came before or after the wait began', async () => {
    const { waiting, reply } = newWaiting();
    const { replyTo, replies } = waiting.open('a project');
    reply(replyTo, 'a');
    const both = replies(2);
    reply(replyTo, 'b');
    expect(resultsOf(await both)).toEqual(['a applied', 'b applied']);
  });

  it('counts a reply that arrives twice once, and takes the first', async () => {
    const { waiting, reply } = newWaiting();
    const { replyTo, replies } = waiting.open('a project');
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
    const [ended, open] = [waiting.open('a project'), waiting.open('a project')];
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
      const { replyTo, replies } = waiting.open('a project');
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
    const { cancel } = waiting.open('a project');
    expect(() => waiting.open('a project')).toThrow(expect.objectContaining({ code: 'overloaded' }));
    cancel();
    waiting.open('a project').cancel();
  });

  it('reads each large reply in a turn of its own', async () => {
    const { waiting, reply } = newWaiting();
    const waits = Array.from({ length: 5 }, () => waiting.open('a project'));
    let answered = 0;
    const answers = waits.map(async ({ replies }) => {
      await replies(1);
      answered += 1;
    });
    for (const { replyTo } of waits) reply(replyTo, 'a', 'applied', 200_000);
    const answeredBy: number[] = [];
    while (answered < 5) {
      await new Promise((resolve) => setImmediate(resolve));
      answeredBy.push(answered);
    }
    await Promise.all(answers);
    expect(answeredBy.every((count, turn) => count - (answeredBy[turn - 1] ?? 0) <= 1)).toBe(true);
  });

  // A replay has a thousand locations, and each may have a megabyte of events.
  it('ends with the replies that fit into memory', async () => {
    const { waiting, reply } = newWaiting();
    const { replyTo, replies, cancel } = waiting.open('a project');
    const all = replies(3);
    reply(replyTo, 'a', 'applied', maxReplyCharacters / 2);
    reply(replyTo, 'b', 'applied', maxReplyCharacters / 2);
    expect(resultsOf(await all).length).toBeLessThan(3);
    cancel();
  });

  it('of one project leaves memory for the replies to others', async () => {
    const { waiting, reply } = newWaiting(100);
    const greedy = Array.from({ length: 20 }, () => waiting.open('greedy'));
    const ends = greedy.map(({ replies }) => replies(2));
    for (const { replyTo } of greedy) reply(replyTo, 'a', 'applied', maxReplyCharacters / 2);
    // Those that did not fit have ended. The others wait for their second reply.
    expect(await Promise.race(ends)).toBeDefined();
    const other = waiting.open('other');
    reply(other.replyTo, 'a', 'applied', maxReplyCharacters / 2);
    expect(resultsOf(await other.replies(1))).toEqual(['a applied']);
    for (const { cancel } of [...greedy, other]) cancel();
    const after = waiting.open('greedy');
    reply(after.replyTo, 'a', 'applied', maxReplyCharacters / 2);
    expect(resultsOf(await after.replies(1))).toEqual(['a applied']);
  });
});
