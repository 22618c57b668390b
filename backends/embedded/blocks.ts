/**
 * The block: many records of one partition as one LMDB value, so that an append of thousands of records costs a handful
 * of puts.
 *
 * Layout, integers big-endian: `count u32`, `timestamp f64` (epoch ms), then per record `key bytes u16`, `value bytes
 * i32` (-1: tombstone), key (UTF-8), value. The base offset is part of the LMDB key and not of the block: a block is
 * encoded before its offsets are known.
 */
import type { LogRecord, NewRecord } from '../../pipeline/ports.js';

const headerBytes = 12;
const frameHeaderBytes = 6;
const tombstoneLength = -1;

/** Room of a pooled block; a larger record gets a block of its own. */
export const blockBytes = 256 * 1024;

/** Longest key in UTF-16 units: three bytes each still fit the u16 length. */
export const maxKeyLength = 21_845;

/** Most that a record can take in a block: exact but for the key, which is counted at three bytes per UTF-16 unit. */
const roomFor = ({ key, value }: NewRecord): number =>
  frameHeaderBytes + key.length * 3 + (value === null ? 0 : value.length);

/** A block being filled. */
export class BlockBuilder {
  count = 0;
  private length = headerBytes;

  constructor(private readonly buffer: Buffer) {}

  /** Appends a record; false when there is no room for it. */
  add(record: NewRecord): boolean {
    if (this.length + roomFor(record) > this.buffer.length) return false;
    const { buffer, length } = this;
    const { key, value } = record;
    const keyBytes = buffer.write(key, length + frameHeaderBytes);
    buffer.writeUInt16BE(keyBytes, length);
    buffer.writeInt32BE(value === null ? tombstoneLength : value.length, length + 2);
    const valueStart = length + frameHeaderBytes + keyBytes;
    value?.copy(buffer, valueStart);
    this.length = valueStart + (value === null ? 0 : value.length);
    this.count += 1;
    return true;
  }

  /** The finished block: a view, valid until the builder's buffer is used again. */
  finish(timestampMs: number): Buffer {
    this.buffer.writeUInt32BE(this.count, 0);
    this.buffer.writeDoubleBE(timestampMs, 4);
    return this.buffer.subarray(0, this.length);
  }

  /** Gives the buffer back for another block; null when it is of a size of its own. */
  release(): Buffer | null {
    return this.buffer.length === blockBytes ? this.buffer : null;
  }
}

/** Lends buffers to builders. Keeps at most `maxFreeBlocks` of them. */
export class BlockPool {
  private readonly free: Buffer[] = [];

  constructor(private readonly maxFreeBlocks = 64) {}

  /** A builder that surely has room for the record. */
  builderFor(record: NewRecord): BlockBuilder {
    const bytes = headerBytes + roomFor(record);
    return new BlockBuilder(
      bytes > blockBytes ? Buffer.allocUnsafeSlow(bytes) : (this.free.pop() ?? Buffer.allocUnsafeSlow(blockBytes)),
    );
  }

  release(builder: BlockBuilder): void {
    const buffer = builder.release();
    if (buffer !== null && this.free.length < this.maxFreeBlocks) this.free.push(buffer);
  }
}

export const countOfBlock = (block: Buffer): number => block.readUInt32BE(0);
export const timestampOfBlock = (block: Buffer): number => block.readDoubleBE(4);

/**
 * Records that a read has found so far. Takes `maxRecords` and `maxBytes` of keys and values at most, but one record
 * however large.
 */
export class Page {
  readonly records: LogRecord[] = [];
  #bytes = 0;
  #isFull = false;

  constructor(
    private readonly maxRecords: number,
    private readonly maxBytes: number,
  ) {}

  /** Whether no further record may be added. */
  get isFull(): boolean {
    return this.#isFull || this.records.length >= this.maxRecords;
  }

  /** Reserves space for a record of so many bytes. False when there is none. */
  reserve(bytes: number): boolean {
    this.#isFull = this.isFull || (this.records.length > 0 && this.#bytes + bytes > this.maxBytes);
    if (!this.#isFull) this.#bytes += bytes;
    return !this.#isFull;
  }
}

/**
 * Adds the block's records from `fromOffset` on to the page, until that is full. Values are views into the block.
 * Answers the position after the last record that was looked at.
 */
export function readBlock(
  block: Buffer,
  partition: number,
  baseOffset: number,
  fromOffset: number,
  page: Page,
): number {
  const timestamp = timestampOfBlock(block);
  const end = baseOffset + countOfBlock(block);
  let position = headerBytes;
  for (let offset = baseOffset; offset < end && !page.isFull; offset++) {
    const keyEnd = position + frameHeaderBytes + block.readUInt16BE(position);
    const valueLength = block.readInt32BE(position + 2);
    const recordEnd = valueLength === tombstoneLength ? keyEnd : keyEnd + valueLength;
    if (offset >= fromOffset && page.reserve(recordEnd - position - frameHeaderBytes)) {
      const key = block.toString('utf8', position + frameHeaderBytes, keyEnd);
      const value = valueLength === tombstoneLength ? null : block.subarray(keyEnd, recordEnd);
      page.records.push({ key, value, partition, offset, timestamp });
    }
    position = recordEnd;
  }
  return position;
}
