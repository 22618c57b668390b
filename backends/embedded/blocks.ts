/**
 * Blocks: many records of one partition in one LMDB value, so that an append of thousands of records takes a few puts.
 *
 * Layout, integers big-endian: `count u32`, `timestamp f64` (epoch ms), then the records. Each has `key bytes u16`,
 * `value bytes i32`, key (UTF-8) and value. Of a tombstone the bytes of the value are -1. With headers they are -3
 * minus the number without, and `bytes u16` and the headers as JSON follow. Earlier releases wrote no headers. The base
 * offset is in the LMDB key, because a block is encoded before its offsets are known.
 *
 * A compressed block is `count u32` with its highest bit set, `timestamp f64`, `bytes u32` (the length of the block
 * without compression), and the block as raw deflate. Earlier releases wrote none.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { LogRecord, NewRecord, RecordHeaders } from '../../pipeline/ports.js';

const headerBytes = 12;
const frameHeaderBytes = 6;
const tombstoneLength = -1;
/** The length of a value with headers is this minus the length. */
const headersLength = -3;
const headersHeaderBytes = 2;
const compressedFlag = 0x8000_0000;
const compressedHeaderBytes = headerBytes + 4;
/** A page of LMDB. A smaller block takes one anyway, and costs more time for each record. */
const minBytesToCompress = 4_096;
/** The fastest. Higher levels save a tenth more, and take twice as long. */
const compressionLevel = 1;
/** Most blocks are compressed to less, so that zlib need not join chunks. */
const chunkSize = 128 * 1024;

/** Size of a pooled block. A larger record gets a separate block. */
export const blockBytes = 256 * 1024;

/** Limit of a key in UTF-16 units, which take up to three bytes each: the length is a u16. */
export const maxKeyLength = 21_845;
/** Limit of a record's headers as JSON, for the same reason. */
export const maxHeadersLength = 21_845;

/** Returns an upper bound of the record's bytes in a block: the key counts three bytes per UTF-16 unit. */
const maxBytesOf = ({ key, value, headers }: NewRecord): number =>
  frameHeaderBytes +
  key.length * 3 +
  (value === null ? 0 : value.length) +
  (headers === undefined ? 0 : headersHeaderBytes + textOf(headers).length * 3);

/** Headers are few and short, so encoding them twice costs little. */
const textOf = (headers: RecordHeaders): string => JSON.stringify(headers);

/** A block being filled. */
export class BlockBuilder {
  count = 0;
  private length = headerBytes;

  constructor(private readonly buffer: Buffer) {}

  /** Appends a record. Returns false when it does not fit. */
  add(record: NewRecord): boolean {
    if (this.length + maxBytesOf(record) > this.buffer.length) return false;
    const { buffer, length } = this;
    const { key, value, headers } = record;
    const keyBytes = buffer.write(key, length + frameHeaderBytes);
    buffer.writeUInt16BE(keyBytes, length);
    const valueLength = value === null ? tombstoneLength : value.length;
    buffer.writeInt32BE(headers === undefined ? valueLength : headersLength - valueLength, length + 2);
    const valueStart = length + frameHeaderBytes + keyBytes;
    value?.copy(buffer, valueStart);
    this.length = valueStart + (value === null ? 0 : value.length);
    if (headers !== undefined) this.addHeaders(headers);
    this.count += 1;
    return true;
  }

  private addHeaders(headers: RecordHeaders): void {
    const start = this.length + headersHeaderBytes;
    const bytes = this.buffer.write(textOf(headers), start);
    this.buffer.writeUInt16BE(bytes, this.length);
    this.length = start + bytes;
  }

  /** Appends text after the last record, for a reader that knows where it begins. The buffer must have space for it. */
  addText(text: string): void {
    this.length += this.buffer.write(text, this.length);
  }

  /** Returns the block: a view that is valid until the buffer is reused. */
  finish(timestampMs: number): Buffer {
    this.buffer.writeUInt32BE(this.count, 0);
    this.buffer.writeDoubleBE(timestampMs, 4);
    return this.buffer.subarray(0, this.length);
  }

  /** Returns the block as {@link finish} does, but compressed if that saves space. */
  finishCompressed(timestampMs: number): Buffer {
    const block = this.finish(timestampMs);
    if (block.length < minBytesToCompress) return block;
    const deflated = deflateRawSync(block, { level: compressionLevel, chunkSize });
    if (compressedHeaderBytes + deflated.length >= block.length) return block;
    const header = Buffer.allocUnsafe(compressedHeaderBytes);
    header.writeUInt32BE(this.count + compressedFlag, 0);
    header.writeDoubleBE(timestampMs, 4);
    header.writeUInt32BE(block.length, headerBytes);
    return Buffer.concat([header, deflated]);
  }

  /** Returns the buffer for reuse; null if it has another size than pooled blocks. */
  release(): Buffer | null {
    return this.buffer.length === blockBytes ? this.buffer : null;
  }
}

/** A pool of buffers for builders. It keeps at most `maxFreeBlocks` of them. */
export class BlockPool {
  private readonly free: Buffer[] = [];

  constructor(private readonly maxFreeBlocks = 64) {}

  /** Returns a builder in which the record fits, with so many bytes after it. */
  builderFor(record: NewRecord, bytesAfter = 0): BlockBuilder {
    const bytes = headerBytes + maxBytesOf(record) + bytesAfter;
    return new BlockBuilder(
      bytes > blockBytes ? Buffer.allocUnsafeSlow(bytes) : (this.free.pop() ?? Buffer.allocUnsafeSlow(blockBytes)),
    );
  }

  /** Takes back the buffer of a block that is stored. Beyond a few free ones, it is dropped. */
  release(builder: BlockBuilder): void {
    const buffer = builder.release();
    if (buffer !== null && this.free.length < this.maxFreeBlocks) this.free.push(buffer);
  }
}

/** Returns the number of records in a block, without decompressing it. */
export const countOfBlock = (block: Buffer): number => block.readUInt32BE(0) % compressedFlag;

/** Returns the time at which a block was appended, epoch ms. */
export const timestampOfBlock = (block: Buffer): number => block.readDoubleBE(4);

/**
 * The result of a read. It takes at most `maxRecords` records and `maxBytes` of keys and values, but one record of any
 * size.
 */
export class Page {
  readonly records: LogRecord[] = [];
  #bytes = 0;
  #isFull = false;

  constructor(
    private readonly maxRecords: number,
    private readonly maxBytes: number,
  ) {}

  /** Whether no more records can be added. */
  get isFull(): boolean {
    return this.#isFull || this.records.length >= this.maxRecords;
  }

  /** Reserves space for a record. Returns false when there is none. */
  reserve(bytes: number): boolean {
    this.#isFull = this.isFull || (this.records.length > 0 && this.#bytes + bytes > this.maxBytes);
    if (!this.#isFull) this.#bytes += bytes;
    return !this.#isFull;
  }
}

const headersIn = (block: Buffer, start: number, end: number): RecordHeaders =>
  JSON.parse(block.toString('utf8', start + headersHeaderBytes, end));

function withoutCompression(stored: Buffer): Buffer {
  if (stored.readUInt32BE(0) < compressedFlag) return stored;
  // One chunk that does not fill up, so that zlib returns it as it is.
  const chunkSize = stored.readUInt32BE(headerBytes) + 64;
  return inflateRawSync(stored.subarray(compressedHeaderBytes), { chunkSize });
}

/**
 * Adds the block's records from `fromOffset` on to the page, until it is full. Values are views into the block, or into
 * its copy without compression. Returns the position there after the last record that was read.
 */
export function readBlock(
  stored: Buffer,
  partition: number,
  baseOffset: number,
  fromOffset: number,
  page: Page,
): number {
  const block = withoutCompression(stored);
  const timestamp = timestampOfBlock(block);
  const end = baseOffset + countOfBlock(block);
  let position = headerBytes;
  for (let offset = baseOffset; offset < end && !page.isFull; offset++) {
    const keyEnd = position + frameHeaderBytes + block.readUInt16BE(position);
    const storedLength = block.readInt32BE(position + 2);
    const hasHeaders = storedLength < tombstoneLength;
    const valueLength = hasHeaders ? headersLength - storedLength : storedLength;
    const valueEnd = valueLength === tombstoneLength ? keyEnd : keyEnd + valueLength;
    const recordEnd = hasHeaders ? valueEnd + headersHeaderBytes + block.readUInt16BE(valueEnd) : valueEnd;
    if (offset >= fromOffset && page.reserve(valueEnd - position - frameHeaderBytes)) {
      const key = block.toString('utf8', position + frameHeaderBytes, keyEnd);
      const value = valueLength === tombstoneLength ? null : block.subarray(keyEnd, valueEnd);
      const record = { key, value, partition, offset, timestamp };
      if (hasHeaders) page.records.push({ ...record, headers: headersIn(block, valueEnd, recordEnd) });
      else page.records.push(record);
    }
    position = recordEnd;
  }
  return position;
}
