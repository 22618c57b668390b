/** What is asked to be delivered again: one event, or those of a span of time. Pure. */
import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { type Cursor, readCursor } from '../lists.js';
import { RedeliveryFields } from './body.js';
import { refuseUnknown } from './input.js';

/** Events by `createdAt`, from the first bound, which is included, to the second, which is not. Epoch ms. */
export interface EventRange {
  readonly fromMs: number;
  /** Null: to the newest. */
  readonly toMs: number | null;
  /** Only events whose last attempt at the webhook was not delivered. */
  readonly failedOnly: boolean;
  /** Where an earlier answer ended. */
  readonly cursor: Cursor | null;
}

export type RedeliveryRequest =
  | { readonly kind: 'event'; readonly event: string }
  | { readonly kind: 'range'; readonly range: EventRange };

export function readRedelivery(fields: RawFields): Outcome<RedeliveryRequest> {
  const reader = new FieldReader(fields);
  refuseUnknown(reader, fields, Object.keys(RedeliveryFields.properties));
  const event = reader.text('event');
  const others = reader.names().filter((name) => name !== 'event');
  if (event !== null) {
    if (others.length > 0) reader.refuse('event', `can't be combined with ${others.join(', ')}`);
    return reader.outcome(() => ({ kind: 'event', event }));
  }
  const fromMs = reader.time('from');
  if (fromMs === null) reader.refuse('from', 'is required unless event is given');
  const toMs = reader.time('to');
  if (toMs !== null && toMs <= (fromMs ?? -Infinity)) reader.refuse('to', 'must be after from');
  const failedOnly = reader.choice('state', ['failed']) !== null;
  const cursor = readCursor(reader);
  return reader.outcome(() => ({ kind: 'range', range: { fromMs: fromMs as number, toMs, failedOnly, cursor } }));
}
