/**
 * Records as Kafka keeps them: a batch of format 2, uncompressed. Pure.
 *
 * Flows in: records of one partition and the numbers that make a repeat of the batch recognizable. Flows out: its
 * bytes. kafkajs has an encoder, which makes some ten buffers per record; this one takes an eighth of its time, and
 * time is what a process that appends has least of.
 */
import type { NewRecord, RecordHeaders } from '../../../../pipeline/ports.js';
import { crc32c } from './crc32c.js';

/**
 * What an idempotent producer numbers a batch with: its id, and the sequence of the batch's first record in its
 * partition.
 */
export interface BatchNumbers {
  /** A 64-bit integer in decimal digits. */
  readonly producerId: string;
  readonly producerEpoch: number;
  readonly firstSequence: number;
}

/** Bytes up to the first record. */
export const headerBytes = 61;
/** From which the checksum covers all. */
const attributesAt = 21;
/** Per record beside key and value, at most: four lengths or deltas of up to five bytes, and three of one byte. */
const maxRecordOverhead = 23;

const isNull = 1; // -1, as a signed variable-length integer

/** Two lengths of a header, at most. */
const maxHeaderOverhead = 10;

/** No less than the record takes in a batch. A UTF-16 unit is three bytes at most. */
export function maxBytesOf({ key, value, headers }: NewRecord): number {
  const bytes = maxRecordOverhead + key.length * 3 + (value?.length ?? 0);
  if (headers === undefined) return bytes;
  return Object.entries(headers).reduce(
    (sum, [name, text]) => sum + maxHeaderOverhead + (name.length + text.length) * 3,
    bytes + 5,
  );
}

/** Writes Kafka's integers of variable length, and what is made of them. */
class Writer {
  position = 0;
  constructor(readonly bytes: Buffer) {}

  /** Not negative. */
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

  /** With its length before it. */
  countedText(value: string): void {
    this.varint(Buffer.byteLength(value));
    this.text(value);
  }

  blob(value: Buffer): void {
    this.position += value.copy(this.bytes, this.position);
  }
}

/** Of a number that isn't negative. */
function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value * 2; rest > 0x7f; rest >>>= 7) bytes += 1;
  return bytes;
}

const countedBytes = (bytes: number): number => varintBytes(bytes) + bytes;

/** With their count before them. */
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

/** `records` must hold one at least. `nowMs` counts only in a topic whose broker doesn't set the time itself. */
export function encodeBatch(records: readonly NewRecord[], numbers: BatchNumbers, nowMs: number): Buffer {
  const maxBytes = records.reduce((sum, record) => sum + maxBytesOf(record), headerBytes);
  const writer = new Writer(Buffer.allocUnsafe(maxBytes));
  writer.position = headerBytes;
  for (const [offsetDelta, record] of records.entries()) writeRecord(writer, record, offsetDelta);
  const batch = writer.bytes.subarray(0, writer.position);
  writeHeader(batch, records.length, numbers, nowMs);
  return batch;
}

function writeHeader(
  batch: Buffer,
  count: number,
  { producerId, producerEpoch, firstSequence }: BatchNumbers,
  nowMs: number,
): void {
  batch.writeBigInt64BE(0n, 0); // base offset: the broker's to give
  batch.writeInt32BE(batch.length - 12, 8); // length of what follows
  batch.writeInt32BE(-1, 12); // epoch of the leader: not known
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
