/** Avro containers byte by byte, also those that no library writes. */
import avro from 'avsc';

/** A block of an object container file, which may lie about its count. */
export interface Block {
  readonly count: number;
  readonly bytes: Buffer;
  /** The number of values that the block declares. */
  readonly says?: number;
}

const longType = avro.Type.forSchema('long');
const metaType = avro.Type.forSchema({ type: 'map', values: 'bytes' });
const sync = Buffer.alloc(16, 7);

/** The first bytes of an object container file (Avro specification, "Object Container Files"). */
export const magic = Buffer.from('Obj\u0001', 'latin1');
/** Encodes an Avro long. */
export const long = (value: number): Buffer => longType.toBuffer(value);

/** Returns a container with this metadata in its header. */
export function containerWith(meta: Readonly<Record<string, string>>, blocks: readonly Block[]): Buffer {
  const bytesOf = Object.fromEntries(Object.entries(meta).map(([name, text]) => [name, Buffer.from(text)]));
  const parts = blocks.flatMap(({ count, bytes, says = bytes.length }) => [long(count), long(says), bytes, sync]);
  return Buffer.concat([magic, metaType.toBuffer(bytesOf), sync, ...parts]);
}

/** Returns a container of blocks. A `schema` that is text is written as it is, valid or not. */
export function container(schema: unknown, blocks: readonly Block[], codec?: string): Buffer {
  const text = typeof schema === 'string' ? schema : JSON.stringify(schema);
  return containerWith({ 'avro.schema': text, ...(codec !== undefined && { 'avro.codec': codec }) }, blocks);
}
