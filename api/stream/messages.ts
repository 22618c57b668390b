/**
 * Server-sent events as text, as the WHATWG HTML standard frames them (section 9.2.6, "Interpreting an event stream").
 * Pure.
 *
 * A message is a block of lines `name: value` that ends with an empty line. A block without data is not dispatched, but
 * its id counts: that is how a stream that has nothing to say moves its reader's position.
 */
import type { Event } from '../../schemas/records.js';
import { eventText } from '../../schemas/wire/event-text.js';
import { encodePosition, type Position } from './position.js';
import type { Missing } from './start.js';

/** After a loss of the connection a reader waits so long before it comes back. */
const reconnectAfterMs = 1_000;

/** A line break would end the field. In JSON it can stand between tokens only, where a space is as good. */
const oneLine = (text: string): string => text.replace(/[\r\n]+/g, ' ');

/** An event, and the position after it. */
export const eventMessage = (event: Event, position: Position): string =>
  `id: ${encodePosition(position)}\nevent: ${oneLine(event.type)}\ndata: ${oneLine(eventText(event))}\n\n`;

/** The first block of a stream. */
export const openingMessage = (position: Position): string =>
  `retry: ${reconnectAfterMs}\nid: ${encodePosition(position)}\n\n`;

/** A comment, for whoever watches the connection, and the position. */
export const heartbeatMessage = (position: Position): string => `:\nid: ${encodePosition(position)}\n\n`;

/** Records are gone that the reader should have had; `position` is after them. */
export const gapMessage = (partitions: readonly Missing[], position: Position): string =>
  `id: ${encodePosition(position)}\nevent: gap\ndata: ${JSON.stringify({ partitions })}\n\n`;
