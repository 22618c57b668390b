/** Reads the type of an event, wherever a request names one: in filters and in webhooks. */
import type { FieldReader } from '../../http/fields/reader.js';
import { conversionNamePattern, conversionNameRule, eventTypes } from '../../schemas/json/user.js';

/**
 * Returns whether text is a type of event: one of Fenceline's or the name of a conversion. A conversion of a secret key
 * may begin with `user.` as well, but such a type is much more often a misspelt one of Fenceline's.
 */
export const isEventType = (text: string): boolean =>
  text.startsWith('user.') ? (eventTypes as readonly string[]).includes(text) : conversionNamePattern.test(text);

/** What an error and the API description say about a type of event. */
export const eventTypeRule = [
  `one of ${eventTypes.join(', ')},`,
  `or the name of a conversion: ${conversionNameRule}, not beginning with user.`,
].join(' ');

/** Returns the type; null when it is not given, or notes that it breaks its rule. */
export function readEventType(reader: FieldReader, name: string): string | null {
  const type = reader.text(name);
  return type === null || isEventType(type) ? type : reader.refuse(name, `must be ${eventTypeRule}`);
}
