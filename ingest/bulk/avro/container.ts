/** Reads the records of an Avro object container file, block by block as they arrive. Codecs: null and deflate. */
import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import { parseJson } from '../../../http/fields/json-text.js';
import { limitText } from '../../../schemas/wording.js';
import { BrokenAvro, Cursor, createAvroReader, EndOfBytes } from './reader.js';

/** Limit of a block, compressed and decompressed. Writers usually make blocks of 16 kB to 1 MB. */
const maxBlockBytes = 16 * 2 ** 20;
const maxHeaderBytes = 2 ** 20;
const syncBytes = 16;
const magic = Buffer.from('Obj\u0001', 'latin1');
const inflate = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflateRaw);

interface Container {
  readonly sync: Buffer;
  readonly read: (cursor: Cursor) => unknown;
  readonly unpack: (packed: Buffer) => Promise<Buffer>;
}

const unpackers: Readonly<Record<string, Container['unpack']>> = {
  null: async (packed) => packed,
  deflate: async (packed) => {
    try {
      return await inflate(packed, { maxOutputLength: maxBlockBytes });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE')
        throw new BrokenAvro('holds broken deflate data');
      throw new BrokenAvro(`decompresses to more than ${limitText(maxBlockBytes)}, the limit of a block`);
    }
  },
};

const headerMetadata = createAvroReader({ type: 'map', values: 'bytes' });

function openContainer(cursor: Cursor): Container {
  if (!cursor.slice(magic.length).equals(magic)) throw new BrokenAvro('does not start with the header of a container');
  const metadata = headerMetadata(cursor) as Record<string, Buffer>;
  const sync = Buffer.from(cursor.slice(syncBytes));
  const codec = metadata['avro.codec']?.toString() ?? 'null';
  const unpack = Object.hasOwn(unpackers, codec) ? unpackers[codec] : undefined;
  if (unpack === undefined)
    throw new BrokenAvro(`uses codec ${codec.slice(0, 100)}; only null and deflate are supported`);
  return { sync, unpack, read: createAvroReader(schemaOf(metadata['avro.schema'])) };
}

function schemaOf(bytes: Buffer | undefined): unknown {
  if (bytes === undefined) throw new BrokenAvro('has no schema');
  const schema = parseJson(bytes.toString());
  if (!schema.ok) throw new BrokenAvro(`has a schema that is not valid JSON: ${schema.fault}`);
  return schema.value;
}

/** Returns the error with the place in words, where it is about the container. */
const placed = (error: unknown, where: string): unknown =>
  error instanceof BrokenAvro ? new BrokenAvro(`${error.message}, in ${where}`) : error;

const recordsAtOnce = 1_000;
const valuesAtOnce = 100_000;

interface Block {
  /** Counted from 1. */
  readonly number: number;
  readonly count: number;
  readonly packed: Buffer;
}

async function* recordsOf(
  { number, count, packed }: Block,
  { read, unpack }: Container,
): AsyncGenerator<readonly unknown[]> {
  let place = `block ${number}`;
  try {
    const cursor = new Cursor(await unpack(packed));
    if (count > cursor.left) throw new BrokenAvro(`counts ${count} records in ${cursor.left} bytes`);
    for (let taken = 0; taken < count; ) {
      const records: unknown[] = [];
      for (
        let values = 0;
        taken < count && records.length < recordsAtOnce && values < valuesAtOnce;
        values += cursor.values
      ) {
        taken += 1;
        place = `block ${number}, record ${taken}, which begins at byte ${cursor.position} of the block`;
        cursor.beginValue();
        try {
          records.push(read(cursor));
        } catch (error) {
          yield records;
          throw error;
        }
      }
      yield records;
    }
    place = `block ${number}`;
    if (cursor.left > 0) throw new BrokenAvro(`has ${cursor.left} bytes left after its records`);
  } catch (error) {
    throw placed(error, place);
  }
}

/** Bytes that have arrived and are not read yet. They are joined only when enough are present. */
class Unread {
  #chunks: Buffer[] = [];
  bytes = 0;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.bytes += chunk.length;
  }

  joined(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] ?? Buffer.alloc(0);
  }

  drop(count: number): void {
    const rest = this.joined().subarray(count);
    this.#chunks = [rest];
    this.bytes = rest.length;
  }
}

/** Reads a part that may be incomplete: undefined then. */
function attempt<T>(
  bytes: Buffer,
  maxBytes: number,
  place: string,
  read: (cursor: Cursor) => T,
): { value: T; end: number } | undefined {
  const cursor = new Cursor(bytes);
  try {
    return { value: read(cursor), end: cursor.position };
  } catch (error) {
    if (!(error instanceof EndOfBytes)) throw placed(error, place);
    if (bytes.length <= maxBytes) return undefined;
    throw new BrokenAvro(`needs more than ${limitText(maxBytes)}, in ${place}`);
  }
}

const maxBlockPrefixBytes = 20;

const blockPrefix = (cursor: Cursor): { count: number; packedBytes: number } => {
  const count = cursor.long();
  const packedBytes = cursor.long();
  if (count < 0) throw new BrokenAvro(`counts ${count} records`);
  if (packedBytes < 0 || packedBytes > maxBlockBytes) {
    throw new BrokenAvro(`declares ${packedBytes} bytes; the limit is ${limitText(maxBlockBytes)}`);
  }
  return { count, packedBytes };
};

/** Joins small pieces. Trying again with each of them would take quadratic time. */
const leastPieceBytes = 16_384;

async function* pieces(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes < leastPieceBytes) continue;
    yield Buffer.concat(chunks);
    chunks = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(chunks);
}

/**
 * Yields the records of the file, up to a thousand at a time. Throws {@link BrokenAvro} at a fault, after all earlier
 * records were yielded.
 */
export async function* avroRecords(source: AsyncIterable<Buffer>): AsyncGenerator<readonly unknown[]> {
  const unread = new Unread();
  let container: Container | undefined;
  let number = 1;
  let neededBytes = 1;
  for await (const piece of pieces(source)) {
    unread.push(piece);
    while (unread.bytes >= neededBytes) {
      const bytes = unread.joined();
      if (container === undefined) {
        const header = attempt(bytes, maxHeaderBytes, 'its header', openContainer);
        container = header?.value;
        unread.drop(header?.end ?? 0);
        neededBytes = header === undefined ? bytes.length + 1 : 1;
        continue;
      }
      const prefix = attempt(bytes, maxBlockPrefixBytes, `block ${number}`, blockPrefix);
      neededBytes = prefix === undefined ? bytes.length + 1 : prefix.end + prefix.value.packedBytes + syncBytes;
      if (prefix === undefined || bytes.length < neededBytes) continue;
      const packedEnd = neededBytes - syncBytes;
      if (!bytes.subarray(packedEnd, neededBytes).equals(container.sync)) {
        throw new BrokenAvro(`has a block without its end mark, block ${number}`);
      }
      yield* recordsOf({ number, count: prefix.value.count, packed: bytes.subarray(prefix.end, packedEnd) }, container);
      unread.drop(neededBytes);
      neededBytes = 1;
      number += 1;
    }
  }
  // Some libraries write an empty file for no records.
  if (unread.bytes > 0)
    throw new BrokenAvro(`ends midway, in ${container === undefined ? 'its header' : `block ${number}`}`);
}
