/** Encodes changes for topic `changes`, and appends them from threads that apply none. Loads no validator. */
import { codecs } from '../../../schemas/codecs.js';
import type { ChangeKind } from '../../../schemas/records.js';
import { type Log, type NewRecord, topics } from '../../ports.js';
import type { ConfigurationChange, EncodedChange } from '../types.js';
import { editHeaders, newEditId } from './revisions.js';

export const changeKey = (kind: ChangeKind, id: string): string => `${kind}/${id}`;

const encodeChange = (
  { kind, id, record, bases }: ConfigurationChange,
  edit: string,
  changedAt: number,
): NewRecord => ({
  key: changeKey(kind, id),
  value: record && codecs.change.encode({ kind, id, changedAt, record: JSON.stringify(record) }),
  headers: editHeaders(edit, bases),
});

/** Encodes a change under a new edit. */
export function encodeEdit(change: ConfigurationChange, changedAt: number): EncodedChange {
  const edit = newEditId();
  return { edit, record: encodeChange(change, edit, changedAt) };
}

/**
 * Appends a change without waiting for the read model, for threads that apply no changes. Resolves when it is durable.
 */
export const appendChange = (
  { log, clock }: { readonly log: Pick<Log, 'append'>; readonly clock: () => number },
  change: ConfigurationChange,
): Promise<void> => log.append(topics.changes, [encodeChange(change, newEditId(), clock())]);
