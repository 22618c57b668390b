/** Rows of the analytics tables, as the sink inserts them. */
import { codecs } from '../codecs.js';
import { type Columns, DoubleColumn, FlagColumn, Rows, TextColumn, TextsColumn, TimeColumn } from '../native.js';
import { OutcomeFrame } from '../outcome-frame.js';
import type { Attempt, Event, Outcome, Rejection } from '../records.js';
import {
  addAttempt,
  addEvent,
  addLocation,
  addRejection,
  addUser,
  newAttemptRows,
  newEventRows,
  newLocationRows,
  newRejectionRows,
  newUserRows,
} from '../table-rows.js';

/** Encodes the values as rows of one table. */
function rowsOf<Value, Table extends Columns>(
  rows: Rows<Table>,
  add: (rows: Rows<Table>, value: Value) => void,
  values: Iterable<Value>,
): Buffer {
  for (const value of values) add(rows, value);
  return rows.take().rows;
}

/** Encodes outcomes as rows of table `locations`, from their Avro frames. */
export const locationRows = (outcomes: Iterable<Outcome>): Buffer => {
  const frame = new OutcomeFrame();
  return rowsOf(
    newLocationRows(),
    (rows, outcome: Outcome) => addLocation(rows, frame.read(codecs.outcome.encode(outcome))),
    outcomes,
  );
};
/** Encodes rows of table `events`. */
export const eventRows = (events: Iterable<Event>): Buffer => rowsOf(newEventRows(), addEvent, events);
/** Encodes rows of table `users`. */
export const userRows = (outcomes: Iterable<Outcome>): Buffer => rowsOf(newUserRows(), addUser, outcomes);
/** Encodes rows of table `attempts`. */
export const attemptRows = (attempts: Iterable<Attempt>): Buffer => rowsOf(newAttemptRows(), addAttempt, attempts);
/** Encodes rows of table `rejections`. */
export const rejectionRows = (rejections: Iterable<Rejection>): Buffer =>
  rowsOf(newRejectionRows(), addRejection, rejections);

type Value = string | number | boolean | Date | readonly string[];
/** A row by the names of its columns. */
export type NamedValues = Readonly<Record<string, Value>>;

function columnOf(value: Value) {
  if (typeof value === 'string') return new TextColumn();
  if (typeof value === 'number') return new DoubleColumn();
  if (typeof value === 'boolean') return new FlagColumn();
  return value instanceof Date ? new TimeColumn() : new TextsColumn();
}

/** Encodes rows that have the columns, and types of values, of the first. */
export function namedRows(...all: readonly NamedValues[]): Buffer {
  const rows = new Rows(
    Object.fromEntries(Object.entries(all[0] ?? {}).map(([name, value]) => [name, columnOf(value)])),
  );
  for (const row of all) {
    for (const [name, value] of Object.entries(row))
      (rows.columns[name] as { add(value: unknown): void }).add(value instanceof Date ? value.getTime() : value);
    rows.endRow();
  }
  return rows.take().rows;
}
