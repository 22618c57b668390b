/**
 * Formats server-sent events as in the WHATWG HTML standard (section 9.2.6, "Interpreting an event stream"). Pure.
 *
 * A message is a block of lines `name: value` that ends with an empty line. A block without data is not dispatched, but
 * its id counts: heartbeats update the client's position with such blocks.
 */
import type { Event } from '../../schemas/records.js';
import { eventText } from '../../schemas/wire/event-text.js';
import { encodePosition, type Position } from './position.js';
import type { Missing } from './start.js';

/** Delay before a client reconnects. */
const reconnectAfterMs = 1_000;

/**
 * Replaces line breaks, which would end the field. In JSON they occur only between tokens, where a space is equivalent.
 */
const oneLine = (text: string): string => text.replace(/[\r\n]+/g, ' ');

/** Formats an event with the position after it. */
export const eventMessage = (event: Event, position: Position): string =>
  `id: ${encodePosition(position)}\nevent: ${oneLine(event.type)}\ndata: ${oneLine(eventText(event))}\n\n`;

/** Formats the first block of a stream. */
export const openingMessage = (position: Position): string =>
  `retry: ${reconnectAfterMs}\nid: ${encodePosition(position)}\n\n`;

/** Formats a heartbeat: a comment, which keeps the connection alive, and the position. */
export const heartbeatMessage = (position: Position): string => `:\nid: ${encodePosition(position)}\n\n`;

/** Reports records that are no longer held; `position` is after them. */
export const gapMessage = (partitions: readonly Missing[], position: Position): string =>
  `id: ${encodePosition(position)}\nevent: gap\ndata: ${JSON.stringify({ partitions })}\n\n`;
