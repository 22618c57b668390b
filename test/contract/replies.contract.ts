/** The contract of every Replies and Inbox. */
import { describe, expect, test } from 'vitest';
import type { Inbox, Replies } from '../../pipeline/ports.js';
import { until } from '../../testing/until.js';

/** One sender and two receivers, like two starts of a node. */
export interface RepliesSite {
  readonly replies: Replies;
  readonly inboxes: readonly [Inbox, Inbox];
  close(): Promise<void>;
}

/** Defines the tests of the contract for one implementation. `open` makes two inboxes and more of one place. */
export function describeRepliesContract(name: string, open: () => Promise<RepliesSite>): void {
  describe(`${name}: replies`, () => {
    test('each reply reaches the inbox whose address it carries, and no other, in order', async () => {
      const { replies, inboxes, close } = await open();
      const received = inboxes.map((inbox) => {
        const list: [string, string][] = [];
        inbox.onReply((request, body) => list.push([request, body]));
        return list;
      });
      expect(inboxes[0].address).not.toBe(inboxes[1].address);
      for (let i = 0; i < 100; i++) replies.send(`${inboxes[i % 2]!.address}/request/${i}`, `{"body":"${i} é"}`);
      replies.send('of-an-earlier-run/1', '{}');
      await until(() => received.every((list) => list.length >= 50));
      replies.send(`${inboxes[0].address}/last`, '{}');
      await until(() => received[0]!.length > 50);
      expect(received.map((list) => list.length)).toEqual([51, 50]);
      expect(received[0]!.at(-1)).toEqual(['last', '{}']);
      for (const side of [0, 1]) {
        const expected = Array.from({ length: 50 }, (_, i) => [
          `request/${2 * i + side}`,
          `{"body":"${2 * i + side} é"}`,
        ]);
        expect(received[side]!.slice(0, 50)).toEqual(expected);
      }
      await close();
    });
  });
}
