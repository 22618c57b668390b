/**
 * Encodes records as a Kafka record batch of format 2, uncompressed. Pure.
 *
 * The encoder of kafkajs makes about ten buffers per record. This one takes an eighth of its time.
 */
import type { NewRecord, RecordHeaders } from '../../../../pipeline/ports.js';
import { crc32c } from './crc32c.js';

/** How an idempotent producer identifies a batch: its id, and the sequence number of the batch's first record. */
export interface BatchSequence {
  /** A 64-bit integer in decimal digits. */
  readonly producerId: string;
  readonly producerEpoch: number;
  readonly firstSequence: number;
}

/** Bytes before the first record. */
export const headerBytes = 61;
/** The checksum covers everything from here. */
const attributesAt = 21;
/** Limit of a record's bytes besides key and value: four lengths or deltas of five bytes, and three of one byte. */
const maxRecordOverhead = 23;

const isNull = 1; // -1, as a signed variable-length integer

/** Limit of the two lengths of a header. */
const maxHeaderOverhead = 10;

/** Returns an upper bound of the record's bytes in a batch. A UTF-16 unit takes at most three bytes. */
export function maxBytesOf({ key, value, headers }: NewRecord): number {
  const bytes = maxRecordOverhead + key.length * 3 + (value?.length ?? 0);
  if (headers === undefined) return bytes;
  return Object.entries(headers).reduce(
    (sum, [name, text]) => sum + maxHeaderOverhead + (name.length + text.length) * 3,
    bytes + 5,
  );
}

/** Writes Kafka's variable-length integers, and fields that begin with one. */
class Writer {
  position = 0;
  constructor(readonly bytes: Buffer) {}

  /** Writes an integer that is not negative. */
  varint(value: number): void {
    let rest = value * 2;
    while (rest > 0x7f) {
      this.bytes[this.position++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.bytes[this.position++] = rest;
  }

  byte(value: number): void {
    this.bytes[this.position++] = value;
  }

  text(value: string): void {
    this.position += this.bytes.write(value, this.position);
  }

  /** Writes the text after its length. */
  countedText(value: string): void {
    this.varint(Buffer.byteLength(value));
    this.text(value);
  }

  blob(value: Buffer): void {
    this.position += value.copy(this.bytes, this.position);
  }
}

/** Returns the bytes of an integer that is not negative. */
function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value * 2; rest > 0x7f; rest >>>= 7) bytes += 1;
  return bytes;
}

const countedBytes = (bytes: number): number => varintBytes(bytes) + bytes;

/** Returns the bytes of the headers with their count. */
function bytesOfHeaders(entries: readonly (readonly [string, string])[]): number {
  if (entries.length === 0) return 1;
  const texts = entries.flat().map((text) => countedBytes(Buffer.byteLength(text)));
  return texts.reduce((sum, bytes) => sum + bytes, varintBytes(entries.length));
}

const entriesOf = (headers: RecordHeaders | undefined) => (headers === undefined ? noEntries : Object.entries(headers));
const noEntries: readonly [string, string][] = [];

function writeRecord(writer: Writer, { key, value, headers }: NewRecord, offsetDelta: number): void {
  const keyBytes = Buffer.byteLength(key);
  const valueBytes = value === null ? 1 : countedBytes(value.length);
  const entries = entriesOf(headers);
  // Attributes and timestamp delta take a byte each.
  writer.varint(2 + varintBytes(offsetDelta) + countedBytes(keyBytes) + valueBytes + bytesOfHeaders(entries));
  writer.byte(0);
  writer.byte(0);
  writer.varint(offsetDelta);
  writer.varint(keyBytes);
  writer.text(key);
  if (value === null) {
    writer.byte(isNull);
  } else {
    writer.varint(value.length);
    writer.blob(value);
  }
  writer.varint(entries.length);
  for (const [name, text] of entries) {
    writer.countedText(name);
    writer.countedText(text);
  }
}

/** Encodes one or more records. `nowMs` counts only in topics whose broker does not set the timestamp. */
export function encodeBatch(records: readonly NewRecord[], sequence: BatchSequence, nowMs: number): Buffer {
  const maxBytes = records.reduce((sum, record) => sum + maxBytesOf(record), headerBytes);
  const writer = new Writer(Buffer.allocUnsafe(maxBytes));
  writer.position = headerBytes;
  for (const [offsetDelta, record] of records.entries()) writeRecord(writer, record, offsetDelta);
  const batch = writer.bytes.subarray(0, writer.position);
  writeHeader(batch, records.length, sequence, nowMs);
  return batch;
}

function writeHeader(
  batch: Buffer,
  count: number,
  { producerId, producerEpoch, firstSequence }: BatchSequence,
  nowMs: number,
): void {
  batch.writeBigInt64BE(0n, 0); // base offset, which the broker sets
  batch.writeInt32BE(batch.length - 12, 8); // length of the rest
  batch.writeInt32BE(-1, 12); // epoch of the leader, unknown
  batch.writeInt8(2, 16); // format
  batch.writeInt16BE(0, attributesAt);
  batch.writeInt32BE(count - 1, 23);
  batch.writeBigInt64BE(BigInt(nowMs), 27); // first and last timestamp
  batch.writeBigInt64BE(BigInt(nowMs), 35);
  batch.writeBigInt64BE(BigInt(producerId), 43);
  batch.writeInt16BE(producerEpoch, 51);
  batch.writeInt32BE(firstSequence, 53);
  batch.writeInt32BE(count, 57);
  batch.writeUInt32BE(crc32c(batch, attributesAt, batch.length), 17);
}
