/** The fields of a redelivery: of one event, or of the events of a time range. Pure. */
import Type from 'typebox';
import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { choiceField, dateField, field, readTable, refuseUnknown, schemaOf } from '../../http/fields/table.js';
import type { ListCursor } from '../../pipeline/catalog/types.js';
import { Id } from '../../schemas/json/common.js';
import { readCursor } from '../lists.js';

/** Events by `createdAt`, from the first bound, which is included, to the second, which is not. Epoch ms. */
export interface EventRange {
  readonly fromMs: number;
  /** Null: to the newest. */
  readonly toMs: number | null;
  /** Only events whose last attempt at the webhook was not delivered. */
  readonly failedOnly: boolean;
  /** Where an earlier answer ended. */
  readonly cursor: ListCursor | null;
}

type RedeliveryRequest =
  | { readonly kind: 'event'; readonly event: string }
  | { readonly kind: 'range'; readonly range: EventRange };

const redeliveryFields = {
  event: field((reader, name) => reader.text(name), Id),
  from: dateField('`createdAt` of the first event; a date, or an ISO 8601 date and time'),
  to: dateField('Events before this time; absent: to the newest'),
  state: choiceField(['failed'], 'Only events whose last attempt was not delivered'),
  cursor: field(readCursor, Type.String(), {
    description: '`meta.cursor` of the answer before, with otherwise equal fields',
  }),
};
/** Body of a redelivery. */
export const RedeliveryBody = schemaOf(redeliveryFields);

/** Reads which events are delivered again: one event, or those of a range of time. */
export function readRedelivery(fields: RawFields): Outcome<RedeliveryRequest> {
  const reader = new FieldReader(fields);
  refuseUnknown(reader, redeliveryFields, fields);
  const event = reader.text('event');
  if (event !== null) {
    const others = reader.names().filter((name) => name !== 'event');
    if (others.length > 0) reader.refuse('event', `can't be combined with ${others.join(', ')}`);
    return reader.outcome(() => ({ kind: 'event', event }));
  }
  const { from, to, state, cursor } = readTable(reader, redeliveryFields);
  if (from === null) reader.refuse('from', 'is required unless event is given');
  if (to !== null && from !== null && to <= from) reader.refuse('to', 'must be after from');
  const range = { fromMs: from as number, toMs: to, failedOnly: state !== null, cursor };
  return reader.outcome(() => ({ kind: 'range', range }));
}
