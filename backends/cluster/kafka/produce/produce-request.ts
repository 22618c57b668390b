/** Encodes the Produce request, version 7 (Kafka 2.1 and later), and parses its response. Pure. */
import { groupedBy } from '../../../../schemas/groups.js';
import type { Exchange } from '../connection/kafkajs-internals.js';

/** An encoded batch with its destination. */
export interface AddressedBatch {
  /** Kafka's name. */
  readonly topic: string;
  readonly partition: number;
  /** From `encodeBatch`. */
  readonly bytes: Buffer;
}

interface ProduceAnswer {
  readonly throttleMs: number;
  /** Returns Kafka's error code of a partition; 0 is success. */
  errorCode(topic: string, partition: number): number | undefined;
}

/** Kafka's code for acknowledgement by all in-sync replicas. */
const allInSync = -1;

const noTransaction = -1;

/** Encodes at most one batch per partition. The broker waits up to `timeoutMs` for its replicas. */
export function produceRequest(batches: readonly AddressedBatch[], timeoutMs: number): Exchange<ProduceAnswer> {
  const byTopic = groupedBy(batches, ({ topic }) => topic);
  const parts: Buffer[] = [int16(noTransaction), int16(allInSync), int32(timeoutMs), int32(byTopic.size)];
  for (const [topic, list] of byTopic) {
    const name = Buffer.from(topic);
    parts.push(int16(name.length), name, int32(list.length));
    for (const { partition, bytes } of list) parts.push(int32(partition), int32(bytes.length), bytes);
  }
  return { apiKey: 0, apiVersion: 7, apiName: 'Produce', body: Buffer.concat(parts), parse };
}

function int16(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** Base offset, append time and log start offset. */
const bytesAfterErrorCode = 24;

function parse(body: Buffer): ProduceAnswer {
  const codes = new Map<string, number>();
  let at = 4;
  for (let topics = body.readInt32BE(0); topics > 0; topics--) {
    const nameAt = at + 2;
    at = nameAt + body.readInt16BE(at);
    const topic = body.toString('utf8', nameAt, at);
    const end = at + 4 + body.readInt32BE(at) * (6 + bytesAfterErrorCode);
    for (at += 4; at < end; at += 6 + bytesAfterErrorCode) {
      codes.set(`${topic}/${body.readInt32BE(at)}`, body.readInt16BE(at + 4));
    }
  }
  return { throttleMs: body.readInt32BE(at), errorCode: (topic, partition) => codes.get(`${topic}/${partition}`) };
}
