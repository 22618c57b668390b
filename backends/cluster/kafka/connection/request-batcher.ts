/**
 * Groups items into requests, with one request in flight at a time.
 *
 * Each item is made when its request is sent, so the next request carries everything that was queued in the meantime.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

interface BatchedRequest<Item, Answer> {
  /** Returns the answers in the order of the items. */
  send(items: readonly Item[]): Promise<readonly Answer[]>;
  /** Returns whether the request takes no more items. */
  isFull(items: readonly Item[]): boolean;
}

interface QueuedItem<Item, Answer> {
  readonly make: () => Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Sends the items of one broker, one request at a time. Items that are added meanwhile share the next request. */
export class RequestBatcher<Item, Answer> {
  private readonly queue: QueuedItem<Item, Answer>[] = [];
  private isRunning = false;

  constructor(private readonly request: BatchedRequest<Item, Answer>) {}

  /** Returns the answer to the item. Rejects when its request fails. */
  add(make: () => Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.queue.push({ make, resolve, reject });
      if (!this.isRunning) void this.run();
    });
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    while (this.queue.length > 0) {
      // Items that are added within this turn of the event loop share the request.
      await nextTurn();
      await this.sendOne();
    }
    this.isRunning = false;
  }

  private async sendOne(): Promise<void> {
    const items: Item[] = [];
    const sent: QueuedItem<Item, Answer>[] = [];
    try {
      while (this.queue.length > 0 && !this.request.isFull(items)) {
        const queued = this.queue.shift() as QueuedItem<Item, Answer>;
        sent.push(queued);
        items.push(queued.make());
      }
      const answers = await this.request.send(items);
      for (const [i, { resolve }] of sent.entries()) resolve(answers[i] as Answer);
    } catch (error) {
      for (const { reject } of sent) reject(error);
    }
  }
}
