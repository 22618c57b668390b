/**
 * Producer ids and sequence numbers, by which brokers recognise a batch that is sent again.
 *
 * A sequence number is never given to two batches, unless the broker said that it did not write the first: it would
 * take the second for a duplicate and drop it. When the outcome of a batch is unknown, its producer id is retired, and
 * the next batches start at sequence 0 under a new id.
 */
import type { ProducerId } from '../connection/kafkajs-internals.js';
import type { BatchSequence } from './record-batch.js';

/** Sequence numbers run from 0 to this and start again at 0. */
const maxSequence = 2 ** 31 - 1;

/** The sequence numbers of one producer id, per partition. */
export class ProducerSequences {
  private readonly next = new Map<string, number>();

  constructor(private readonly id: ProducerId) {}

  /** Returns the sequence of the partition's next batch: the same one until {@link advance}. */
  nextOf(partition: string): BatchSequence {
    return { ...this.id, firstSequence: this.next.get(partition) ?? 0 };
  }

  /** Records that the broker wrote a batch of so many records. */
  advance(partition: string, records: number): void {
    const first = this.next.get(partition) ?? 0;
    this.next.set(partition, first > maxSequence - records ? records - (maxSequence - first) - 1 : first + records);
  }
}

/** The producer id of this process, and the ones that replace it. */
export class ProducerIds {
  private requested: Promise<ProducerSequences> | undefined;
  private newest: ProducerSequences | undefined;

  /** Returns the sequences for a new batch. Calls `newId` when there is no usable producer id. */
  current(newId: () => Promise<ProducerId>): Promise<ProducerSequences> {
    if (this.requested === undefined) {
      const requested = newId().then((id) => {
        this.newest = new ProducerSequences(id);
        return this.newest;
      });
      this.requested = requested;
      requested.catch(() => {
        if (this.requested === requested) this.requested = undefined;
      });
    }
    return this.requested;
  }

  /** Uses the producer id for no new batch. Batches that have a sequence keep it. */
  retire(sequences: ProducerSequences): void {
    if (this.newest === sequences) this.requested = undefined;
  }
}
