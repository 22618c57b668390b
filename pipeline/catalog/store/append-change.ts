/** Encodes changes for topic `changes`, and appends them from threads that do not apply changes. Loads no validator. */
import { codecs } from '../../../schemas/codecs.js';
import type { ChangeKind } from '../../../schemas/records.js';
import { type Log, type NewRecord, topics } from '../../ports.js';
import type { ConfigurationChange, EncodedChange } from '../types.js';
import { prepareFence } from './apply/prepared-fence.js';
import { editHeaders, newEditId } from './tables/revisions.js';

/** Edits of all records are ordered in one partition. */
export const changesPartition = 0;

/** Returns the key of a record of topic `changes`, by which the topic is compacted. */
export const changeKey = (kind: ChangeKind, id: string): string => `${kind}/${id}`;

/** Returns the id of a key that {@link changeKey} made. */
export const idOfKey = (key: string): string => key.slice(key.indexOf('/') + 1);

const encodeChange = (
  { kind, id, bases }: ConfigurationChange,
  text: string | null,
  edit: string,
  changedAt: number,
): NewRecord => ({
  key: changeKey(kind, id),
  value: text === null ? null : codecs.change.encode({ kind, id, changedAt, record: text }),
  headers: editHeaders(edit, bases),
});

const textOf = ({ record }: ConfigurationChange): string | null => record && JSON.stringify(record);

/** Encodes a change under a new edit. */
export function encodeEdit(change: ConfigurationChange, changedAt: number): EncodedChange {
  const edit = newEditId();
  return { edit, record: encodeChange(change, textOf(change), edit, changedAt) };
}

/**
 * Encodes a change under a new edit for a thread that does not apply it. Adds the stored form if it can be prepared.
 */
export function prepareEdit(change: ConfigurationChange, changedAt: number): EncodedChange {
  const [edit, text] = [newEditId(), textOf(change)];
  const prepared = text === null ? undefined : prepareFence(change, text);
  return { edit, record: encodeChange(change, text, edit, changedAt), prepared };
}

/**
 * Appends a change without waiting for the read model, for threads that apply no changes. Resolves when it is durable.
 */
export const appendChange = (
  { log, clock }: { readonly log: Pick<Log, 'append'>; readonly clock: () => number },
  change: ConfigurationChange,
): Promise<void> => log.append(topics.changes, [encodeChange(change, textOf(change), newEditId(), clock())]);
