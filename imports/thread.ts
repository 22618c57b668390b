/**
 * What an import in another thread and the thread of the configuration ask of each other. The import's thread reads,
 * validates, compares and encodes rows, also in their stored form. The other one appends the changes and applies them
 * to the read model.
 *
 * Everything is copied between threads, so changes travel as one buffer.
 */
import type { GeofenceInput, GivenGeofence } from '../api/geofences/fields.js';
import type { Outcome } from '../http/fields/reader.js';
import { prepareEdit } from '../pipeline/catalog/store/append-change.js';
import { createTimestamps } from '../pipeline/catalog/store/configuration-writer.js';
import { editHeaders } from '../pipeline/catalog/store/tables/revisions.js';
import { scopeOfFence } from '../pipeline/catalog/store/tables/stored-fence.js';
import type {
  ConfigurationChange,
  ConfigurationWriter,
  EditOutcome,
  EncodedChange,
  EncodedWriter,
  PreparedFence,
  Scope,
} from '../pipeline/catalog/types.js';
import { ApiError } from '../schemas/errors.js';
import type { ImportRecord } from '../schemas/json/import.js';
import type { ImportBounds, ImportRequest, RunningImport } from './execution.js';
import type { ResolveGeometry } from './resources.js';

/** Runs imports in another thread, so that a large file does not hold up requests. */
export interface ImportThread {
  /** Takes an import over; undefined if this thread should run it itself, because its file is small. */
  take(first: ImportRecord, request: ImportRequest, closing: AbortSignal): RunningImport | undefined;
}

/** A request that can be copied. */
export type FileRequest = Omit<ImportRequest, 'source' | 'signal' | 'onProgress'> & {
  readonly source: { readonly path: string };
};

/** What the import's thread does for the other one. */
export interface ThreadCalls {
  /** Resolves with the record of the import when it has ended. */
  run(first: ImportRecord, request: FileRequest, bounds: ImportBounds): Promise<ImportRecord>;
  /** Interrupts the import between two rows. */
  interrupt(id: string): Promise<void>;
}

/** What it needs of the other one. */
export interface ThreadServices {
  /** Returns the revision of each change, or null for one that was refused. */
  write(changes: PackedChanges): Promise<(number | null)[]>;
  catchUp(): Promise<void>;
  resolve(scope: Scope, given: GivenGeofence, id: string): Promise<CopiedOutcome>;
  underWay(id: string): Promise<void>;
  progress(record: ImportRecord): Promise<void>;
}

/** An outcome without an object of a class, which a copy would lose. */
type CopiedOutcome =
  | Extract<Outcome<GeofenceInput>, { ok: true }>
  | { readonly ok: false; readonly error: Pick<ApiError, 'code' | 'message' | 'param' | 'rule'> };

/** Returns an outcome that survives a copy to another thread. */
export const copiedOutcome = (outcome: Outcome<GeofenceInput>): CopiedOutcome => {
  if (outcome.ok) return outcome;
  const { code, message, param, rule } = outcome.error;
  return { ok: false, error: { code, message, param, rule } };
};

/** Returns the resolver of a thread that asks the other one. */
export const remoteResolver =
  (main: Pick<ThreadServices, 'resolve'>): ResolveGeometry =>
  async (scope, given, id) => {
    const outcome = await main.resolve(scope, given, id);
    if (outcome.ok) return outcome;
    const { code, message, param, rule } = outcome.error;
    return { ok: false, error: new ApiError(code, message, { ...(param && { param }), ...(rule && { rule }) }) };
  };

/** Encoded changes in one buffer. */
interface PackedChanges {
  /** JSON of a {@link PackedHead} per change. */
  readonly heads: string;
  /** The values, one after the other, in a buffer of their own. */
  readonly values: Uint8Array<ArrayBuffer>;
}

/** Returns the buffers of a call that change threads, so that megabytes a second need not be copied. */
export const movedBuffers = (method: string, [changes]: readonly unknown[]): ArrayBuffer[] =>
  method === 'write' ? [(changes as PackedChanges).values.buffer] : [];

/** Key, bytes of the value (-1: a deletion), edit, bases, and what was prepared. */
type PackedHead = [string, number, string, ConfigurationChange['bases'] | null, PreparedHead?];

/** Base, bytes of the stored form, places in lists before and after, and bytes of the removed and the added keys. */
type PreparedHead = [
  PreparedFence['base'],
  number,
  PreparedFence['before'],
  PreparedFence['after'],
  readonly number[],
  readonly number[],
];

const lengthOf = (bytes: Uint8Array): number => bytes.length;

const preparedHead = ({ base, stored, before, after, removed, added }: PreparedFence): PreparedHead => [
  base,
  stored.length,
  before,
  after,
  removed.map(lengthOf),
  added.map(lengthOf),
];

/** Returns edits as one buffer. `changedAt` is epoch ms. Each edit gets an id. */
export function packChanges(changes: readonly ConfigurationChange[], changedAt: number): PackedChanges {
  const parts: Buffer[] = [];
  const heads = changes.map((change): PackedHead => {
    const { edit, record, prepared } = prepareEdit(change, changedAt);
    const { key, value } = record;
    const head: PackedHead = [key, value?.length ?? -1, edit, change.bases ?? null];
    if (value !== null) parts.push(value);
    if (prepared !== undefined) {
      head.push(preparedHead(prepared));
      parts.push(prepared.stored, ...prepared.removed, ...prepared.added);
    }
    return head;
  });
  const values = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    values.set(part, at);
    at += part.length;
  }
  return { heads: JSON.stringify(heads), values };
}

/** Returns the edits of a buffer. Their values are slices of it. */
export function unpackChanges({ heads, values }: PackedChanges): EncodedChange[] {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  let at = 0;
  const take = (length: number): Buffer => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  const takePrepared = ([base, length, before, after, removed, added]: PreparedHead): PreparedFence => {
    const stored = take(length);
    return {
      base,
      scope: scopeOfFence(stored),
      stored,
      before,
      after,
      removed: removed.map(take),
      added: added.map(take),
    };
  };
  return (JSON.parse(heads) as PackedHead[]).map(([key, length, edit, bases, prepared]) => {
    const value = length < 0 ? null : take(length);
    const record = { key, value, headers: editHeaders(edit, bases ?? undefined) };
    return { edit, record, prepared: prepared && takePrepared(prepared) };
  });
}

const revisionOf = (outcome: EditOutcome): number | null => (outcome.kind === 'applied' ? outcome.revision : null);
const outcomeOf = (revision: number | null): EditOutcome =>
  revision === null ? { kind: 'refused' } : { kind: 'applied', revision };

/** Serves `write` of the import's thread. */
export const writePacked = async (
  writer: Pick<EncodedWriter, 'writeEncoded'>,
  changes: PackedChanges,
): Promise<(number | null)[]> => (await writer.writeEncoded(unpackChanges(changes))).map(revisionOf);

/** Returns the writer of a thread that asks the other one, and reads the same read model. */
export function remoteWriter(
  main: Pick<ThreadServices, 'write' | 'catchUp'>,
  readModel: { readonly latestTimestamp: number; refresh(): void },
  clock: () => number,
): ConfigurationWriter {
  return {
    async write(changes) {
      const revisions = await main.write(packChanges(changes, clock()));
      readModel.refresh();
      return revisions.map(outcomeOf);
    },
    async catchUp() {
      await main.catchUp();
      readModel.refresh();
    },
    nextTimestamp: createTimestamps(readModel, clock),
  };
}
