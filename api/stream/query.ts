/** Reads the parameters of the live stream: filters and position. */
import type { IncomingHttpHeaders } from 'node:http';
import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { type EventFilters, readEventFilters } from '../events/filters.js';
import { type Position, parsePosition } from './position.js';

/** What a client asks for: which events, and from where on. */
export interface StreamQuery {
  readonly filters: EventFilters;
  readonly from: 'earliest' | 'latest' | Position;
}

const notAnId = 'must be the id of a message of this stream';
const maxIdLength = 16_384;

/**
 * Reads the parameters. The header wins over `lastEventId`, and that over `from`: a browser sends the header when it
 * reconnects, while the parameters are part of the URL of every attempt.
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
