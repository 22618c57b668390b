/**
 * What we use of kafkajs beyond its public types: how a request of one's own is sent to a broker, and the ids of idempotent producers.
 *
 * Its own producer isn't used, for it loses records. Of a send to several brokers it repeats only what it has no answer to, broker by broker. Where a partition
 * has meanwhile moved from one that failed to one that has answered, its records are left out, and the send resolves (`producer/sendMessages.js`).
 * After a send that failed for good it gives the same sequence numbers to other records, which the broker may take for a repeat of the first and drop
 * (`producer/eosManager`), as it may after 2^31 records in a partition, where the numbers start anew too early. It says that a partition
 * was refused, but not which. And it spends seven microseconds on encoding a record.
 */
import type { Broker } from 'kafkajs';

/** A request in its bytes, and how its answer is read. */
export interface Exchange<Answer extends Throttled> {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly apiName: string;
  readonly body: Buffer;
  readonly parse: (body: Buffer) => Answer;
}

interface Throttled {
  /** For so long the broker wants no more requests on this connection; kafkajs sees to it. */
  readonly throttleMs: number;
}

interface InternalBroker {
  readonly connectionPool: {
    send<Decoded, Answer>(exchange: {
      request: { apiKey: number; apiVersion: number; apiName: string; encode: () => Promise<{ buf: Buffer; buffer: Buffer }> };
      response: { decode: (body: Buffer) => Promise<Decoded>; parse: (decoded: Decoded) => Promise<Answer> };
    }): Promise<Answer>;
  };
  initProducerId(request: { transactionTimeout: number }): Promise<ProducerId>;
}

/** Rejects when the broker can't be reached or doesn't answer in time. */
export const exchange = <Answer extends Throttled>(
  broker: Broker,
  { body, parse, ...request }: Exchange<Answer>,
): Promise<Answer> =>
  (broker as unknown as InternalBroker).connectionPool.send({
    request: { ...request, encode: async () => ({ buf: body, buffer: body }) },
    response: {
      decode: async (bytes) => {
        const answer = parse(bytes);
        return { clientSideThrottleTime: answer.throttleMs, answer };
      },
      parse: async ({ answer }) => answer,
    },
  });

export interface ProducerId {
  /** A 64-bit integer in decimal digits. */
  readonly producerId: string;
  readonly producerEpoch: number;
}

/** A new identity for an idempotent producer. Any broker gives it. */
export const newProducerId = (broker: Broker): Promise<ProducerId> =>
  (broker as unknown as InternalBroker).initProducerId({ transactionTimeout: 60_000 });
