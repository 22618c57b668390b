/** An Avro object container file as its records, block by block as they arrive. Codecs: null and deflate. */
import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import { BrokenAvro, Cursor, createAvroReader, EndOfBytes } from './avro-reader.js';

/** Of a block, packed or unpacked; writers usually make blocks of 16 kB to 1 MB. */
export const maxBlockBytes = 16 * 2 ** 20;
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
  deflate: (packed) => inflate(packed, { maxOutputLength: maxBlockBytes }),
};

const headerMetadata = createAvroReader({ type: 'map', values: 'bytes' });

function openContainer(cursor: Cursor): Container {
  if (!cursor.slice(magic.length).equals(magic)) throw new BrokenAvro('does not start as one');
  const metadata = headerMetadata(cursor) as Record<string, Buffer>;
  const sync = Buffer.from(cursor.slice(syncBytes));
  const codec = metadata['avro.codec']?.toString() ?? 'null';
  const unpack = Object.hasOwn(unpackers, codec) ? unpackers[codec] : undefined;
  if (unpack === undefined) throw new BrokenAvro(`is packed by ${codec.slice(0, 100)}; null and deflate are read`);
  return { sync, unpack, read: createAvroReader(JSON.parse(metadata['avro.schema']?.toString() ?? 'null')) };
}

const recordsAtOnce = 1_000;

async function* recordsOf(count: number, packed: Buffer, { read, unpack }: Container): AsyncGenerator<readonly unknown[]> {
  const cursor = new Cursor(await unpack(packed));
  if (count > cursor.left) throw new BrokenAvro('counts more records than it has bytes');
  for (let rest = count; rest > 0; rest -= recordsAtOnce) {
    yield Array.from({ length: Math.min(rest, recordsAtOnce) }, () => read(cursor));
  }
  if (cursor.left > 0) throw new BrokenAvro('has bytes left after the records of a block');
}

/** Bytes that have arrived and aren't read yet; joined only when enough are there. */
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

/** Reads a part that may not have arrived whole: undefined then. */
function attempt<T>(bytes: Buffer, maxBytes: number, read: (cursor: Cursor) => T): { value: T; end: number } | undefined {
  const cursor = new Cursor(bytes);
  try {
    return { value: read(cursor), end: cursor.position };
  } catch (error) {
    if (error instanceof EndOfBytes && bytes.length <= maxBytes) return undefined;
    throw error;
  }
}

const maxBlockPrefixBytes = 20;

const blockPrefix = (cursor: Cursor): { count: number; packedBytes: number } => {
  const count = cursor.long();
  const packedBytes = cursor.long();
  if (count < 0 || packedBytes < 0 || packedBytes > maxBlockBytes) {
    throw new BrokenAvro(`has a block of ${packedBytes} bytes; at most ${maxBlockBytes} are read`);
  }
  return { count, packedBytes };
};

/** The records of the file, up to a thousand at a time. Throws {@link BrokenAvro} where it breaks, after all that stood before was given out. */
export async function* avroRecords(source: AsyncIterable<Buffer>): AsyncGenerator<readonly unknown[]> {
  const unread = new Unread();
  let container: Container | undefined;
  let neededBytes = 1;
  for await (const chunk of source) {
    unread.push(chunk);
    while (unread.bytes >= neededBytes) {
      const bytes = unread.joined();
      if (container === undefined) {
        const header = attempt(bytes, maxHeaderBytes, openContainer);
        container = header?.value;
        unread.drop(header?.end ?? 0);
        neededBytes = header === undefined ? bytes.length + 1 : 1;
        continue;
      }
      const prefix = attempt(bytes, maxBlockPrefixBytes, blockPrefix);
      neededBytes = prefix === undefined ? bytes.length + 1 : prefix.end + prefix.value.packedBytes + syncBytes;
      if (prefix === undefined || bytes.length < neededBytes) continue;
      const packedEnd = neededBytes - syncBytes;
      if (!bytes.subarray(packedEnd, neededBytes).equals(container.sync))
        throw new BrokenAvro('has a block without its end mark');
      yield* recordsOf(prefix.value.count, bytes.subarray(prefix.end, packedEnd), container);
      unread.drop(neededBytes);
      neededBytes = 1;
    }
  }
  // Libraries write nothing at all for no records.
  if (unread.bytes > 0) throw new BrokenAvro('ends midway');
}
