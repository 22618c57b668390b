/**
 * The numbers by which brokers recognize a batch that is sent again: the id of a producer, and a sequence of records
 * per partition.
 *
 * Numbers given to a batch are never given to another, unless the broker said that it did not write the first: it would
 * take the second for a repeat and drop it. Where that isn't known the numbering is given up, and the next batches are
 * numbered by a new producer's, from 0.
 */
import type { ProducerId } from '../connection/kafkajs-internals.js';
import type { BatchNumbers } from './record-batch.js';

/** Sequences go from 0 to this and start anew. */
const maxSequence = 2 ** 31 - 1;

export class Numbering {
  private readonly next = new Map<string, number>();

  constructor(private readonly id: ProducerId) {}

  /** For the partition's next batch; the same until it is {@link written}. */
  numbersOf(lane: string): BatchNumbers {
    return { ...this.id, firstSequence: this.next.get(lane) ?? 0 };
  }

  written(lane: string, records: number): void {
    const first = this.next.get(lane) ?? 0;
    this.next.set(lane, first > maxSequence - records ? records - (maxSequence - first) - 1 : first + records);
  }
}

export class Numberings {
  private asked: Promise<Numbering> | undefined;
  private newest: Numbering | undefined;

  /** The one to number a new batch with. `newId` is asked where there is none. */
  current(newId: () => Promise<ProducerId>): Promise<Numbering> {
    if (this.asked === undefined) {
      const asked = newId().then((id) => {
        this.newest = new Numbering(id);
        return this.newest;
      });
      this.asked = asked;
      asked.catch(() => {
        if (this.asked === asked) this.asked = undefined;
      });
    }
    return this.asked;
  }

  /** Numbers no more batches. Those that have their numbers keep them. */
  giveUp(numbering: Numbering): void {
    if (this.newest === numbering) this.asked = undefined;
  }
}
