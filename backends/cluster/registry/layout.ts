/** Whether and how what one schema wrote is read with another. Pure. */
import avro from 'avsc';

/**
 * `same`: the bytes are the same, only what doesn't show in them differs, such as descriptions. `unreadable`: nothing
 * that the reader understands.
 */
export type Reading = 'same' | 'unreadable' | avro.Resolver;

/** How `reader` reads what was written with the schema in `text`. */
export function readingOf(reader: avro.Type, text: string): Reading {
  try {
    const writer = typeOf(text);
    return reader.equals(writer) ? 'same' : reader.createResolver(writer);
  } catch {
    return 'unreadable';
  }
}

export const isSameLayout = (one: string, other: string): boolean => one === other || typeOf(one).equals(typeOf(other));

const typeOf = (text: string): avro.Type => avro.Type.forSchema(JSON.parse(text), { registry: {}, wrapUnions: false });
