/** Upserts records that a program sends as JSON, with a result for each. */
import { catchUpWithAuthority, type EditAuthority } from '../api/edits.js';
import type { RawFields } from '../http/fields/reader.js';
import { unknownField } from '../http/fields/table.js';
import { isDictionary } from '../http/fields/values.js';
import type { ConfigurationReader, ConfigurationWriter } from '../pipeline/catalog/types.js';
import type { ErrorCode } from '../schemas/errors.js';
import { applyRows, type RowAction } from './engine.js';
import type { ImportedResource } from './resources.js';
import type { SourceRow } from './source.js';

/** Most records of a batch. More belong into a file. */
export const maxBatchRecords = 1_000;

/** What became of one record. */
export interface BatchResult {
  /** Counted from 0. */
  readonly index: number;
  readonly action: RowAction | 'rejected';
  readonly _id?: string;
  readonly tag?: string;
  readonly externalId?: string;
  readonly error?: { readonly type: ErrorCode; readonly param: string; readonly message: string };
}

interface BatchParts extends EditAuthority {
  readonly configuration: Pick<ConfigurationReader, 'bases' | 'revisionOf'>;
  readonly writer: ConfigurationWriter;
}

function contentOf(record: unknown, { table, answered }: ImportedResource): SourceRow['content'] {
  if (!isDictionary(record)) return { problem: { column: 'record', rule: 'must be an object' } };
  const fields: RawFields = record;
  const unknown = unknownField(table, fields, answered);
  return unknown === undefined ? { fields } : { problem: { column: unknown.param, rule: unknown.rule } };
}

async function* oneBatch(rows: readonly SourceRow[]) {
  yield { rows, bytesRead: 0 };
}

/**
 * Applies the good records and returns a result for each, in their order. Rejects with the error of `confirmAuthority`.
 */
export async function applyBatch(
  { configuration, writer, confirmAuthority }: BatchParts,
  resource: ImportedResource,
  records: readonly unknown[],
  isDryRun: boolean,
): Promise<BatchResult[]> {
  // The engine counts from 1.
  const rows = records.map((record, index) => ({ line: index + 1, content: contentOf(record, resource) }));
  const results: BatchResult[] = new Array(records.length);
  await catchUpWithAuthority({ writer, confirmAuthority });
  await applyRows(
    { configuration, writer },
    { resource, batches: oneBatch(rows), isDryRun, maxRows: maxBatchRecords, unit: 'record' },
    {
      rejected({ line }, { column, rule, code = 'invalid_parameter' }) {
        const error = { type: code, param: column, message: `${column}: ${rule}` };
        results[line - 1] = { index: line - 1, action: 'rejected', error };
      },
      decided(line, action, { id, tag, externalId }) {
        const pair = { ...(tag !== null && { tag }), ...(externalId !== null && { externalId }) };
        results[line - 1] = { index: line - 1, action, _id: id, ...pair };
      },
      checkpoint: () => [],
    },
  );
  return results;
}
