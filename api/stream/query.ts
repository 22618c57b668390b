/** What a reader of the live stream asks: which events, and from where on. */
import type { IncomingHttpHeaders } from 'node:http';
import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { type EventFilters, readEventFilters } from '../events/filters.js';
import { type Position, parsePosition } from './position.js';

export interface StreamQuery {
  readonly filters: EventFilters;
  readonly from: 'earliest' | 'latest' | Position;
}

const notAnId = 'must be the id of a message of this stream';
const maxIdLength = 16_384;

/**
 * The header is what a browser comes back with, so it counts before the parameter, and that before `from`: both stand
 * in the address of every try.
 */
export function readStreamQuery(
  query: RawFields,
  headers: IncomingHttpHeaders,
  partitions: number,
): Outcome<StreamQuery> {
  const reader = new FieldReader(query);
  const filters = readEventFilters(reader);
  const word = reader.choice('from', ['earliest', 'latest']) ?? 'latest';
  const parameter = reader.text('lastEventId', maxIdLength);
  const header = headers['last-event-id'];
  const [name, id] = header ? ['Last-Event-ID', String(header)] : ['lastEventId', parameter];
  const position = id === null ? undefined : (parsePosition(id, partitions) ?? reader.refuse(name, notAnId));
  return reader.outcome(() => ({ filters, from: position ?? word }));
}
