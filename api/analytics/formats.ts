/** Output formats of analytics queries: JSON, or a file with the same rows and columns. */
import Type from 'typebox';
import type { FieldReader } from '../../http/fields/reader.js';
import type { FileFormat } from '../../pipeline/ports.js';

/** Rows of a JSON answer without `limit`. */
export const defaultJsonRows = 1_000;
const maxJsonRows = 10_000;
/** Most rows of a CSV or Parquet file. */
export const maxFileRows = 1_000_000;

/** A file format; JSON is handled apart. */
export interface OutputFormat {
  /** ClickHouse's name of the format. */
  readonly name: FileFormat;
  readonly extension: string;
  readonly contentType: string;
  /** Spreadsheets calculate texts of the file that begin as formulas. */
  readonly isCalculated: boolean;
}

const csv: OutputFormat = {
  name: 'CSVWithNames',
  extension: 'csv',
  contentType: 'text/csv; charset=utf-8; header=present',
  isCalculated: true,
};
const parquet: OutputFormat = {
  name: 'Parquet',
  extension: 'parquet',
  contentType: 'application/vnd.apache.parquet',
  isCalculated: false,
};
const files = { csv, parquet };

/** Media types of the files, without parameters. */
export const fileTypes: readonly string[] = Object.values(files).map(
  ({ contentType }) => contentType.split(';', 1)[0]!,
);

/**
 * Reads the output format from parameter `format`, or else from the first media type in `Accept` that is supported.
 * Null: JSON.
 */
export function readFormat(reader: FieldReader, accept: string | undefined): OutputFormat | null {
  const format = reader.choice('format', ['json', 'csv', 'parquet']);
  if (format !== null) return format === 'json' ? null : files[format];
  const types = (accept ?? '').split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase());
  const first = types.find(
    (type) => type === 'text/csv' || type === 'application/json' || type === parquet.contentType,
  );
  if (first === 'text/csv') return csv;
  return first === parquet.contentType ? parquet : null;
}

/** Returns the maximum number of rows. Null: all rows, for files only. */
export function readRowLimit(reader: FieldReader, format: OutputFormat | null): number | null {
  const given = reader.integer('limit', { minimum: 1, maximum: maxFileRows });
  if (format !== null) return given;
  if (given !== null && given > maxJsonRows)
    reader.refuse('limit', `must be at most ${maxJsonRows} in JSON; a file may have ${maxFileRows}, see \`format\``);
  return given ?? defaultJsonRows;
}

/** The parameters `format` and `limit` of every query. */
export const formatSchema = {
  format: Type.Optional(
    Type.Enum(['json', 'csv', 'parquet'], {
      default: 'json',
      description: `The \`Accept\` header can select it as well: text/csv or ${parquet.contentType}`,
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxFileRows,
      description:
        `Maximum number of rows. JSON: ${defaultJsonRows} by default, at most ${maxJsonRows}; ` +
        `\`meta.hasMore\` is true when there are more. Files: all rows by default; ` +
        `a file of more than ${maxFileRows} rows is refused.`,
    }),
  ),
};
