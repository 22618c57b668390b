/** Compares the layouts of schemas. Pure. */
import type avro from 'avsc';
import { Type } from '../../../schemas/avro-type.js';

/**
 * How a reader decodes records of a writer's schema. `same`: the encoding is the same; only descriptions and the like
 * may differ. `unreadable`: the reader can't decode them.
 */
export type Reading = 'same' | 'unreadable' | avro.Resolver;

/** Returns how `reader` decodes records of the schema in `text`. */
export function readingOf(reader: avro.Type, text: string): Reading {
  try {
    const writer = typeOf(text);
    return reader.equals(writer) ? 'same' : reader.createResolver(writer);
  } catch {
    return 'unreadable';
  }
}

/** Returns whether two Avro schemas, as JSON, read and write the same bytes. */
export const isSameLayout = (one: string, other: string): boolean => one === other || typeOf(one).equals(typeOf(other));

const typeOf = (text: string): avro.Type => Type.forSchema(JSON.parse(text), { registry: {}, wrapUnions: false });
