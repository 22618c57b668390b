/** The forms an answer can have: JSON, or a file of the same rows and columns. */
import Type from 'typebox';
import type { FieldReader } from '../../http/fields/reader.js';
import type { FileFormat } from '../../pipeline/ports.js';

export const defaultJsonRows = 1_000;
export const maxJsonRows = 10_000;
export const maxFileRows = 1_000_000;

/** A form of answers other than JSON. */
export interface FileForm {
  readonly format: FileFormat;
  readonly extension: string;
  readonly contentType: string;
}

const csv: FileForm = {
  format: 'CSVWithNames',
  extension: 'csv',
  contentType: 'text/csv; charset=utf-8; header=present',
};
const parquet: FileForm = { format: 'Parquet', extension: 'parquet', contentType: 'application/vnd.apache.parquet' };
const files = { csv, parquet };

/** By the parameter, or else by the first media type of the header that we have. Null: JSON. */
export function readForm(reader: FieldReader, accept: string | undefined): FileForm | null {
  const format = reader.choice('format', ['json', 'csv', 'parquet']);
  if (format !== null) return format === 'json' ? null : files[format];
  const types = (accept ?? '').split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase());
  const first = types.find(
    (type) => type === 'text/csv' || type === 'application/json' || type === parquet.contentType,
  );
  if (first === 'text/csv') return csv;
  return first === parquet.contentType ? parquet : null;
}

/** Null: all rows, which is for files. */
export function readRowLimit(reader: FieldReader, form: FileForm | null): number | null {
  const given = reader.integer('limit', { minimum: 1, maximum: form === null ? maxJsonRows : maxFileRows });
  return given ?? (form === null ? defaultJsonRows : null);
}

export const formSchema = {
  format: Type.Optional(
    Type.Enum(['json', 'csv', 'parquet'], {
      default: 'json',
      description: `The header Accept says it too: text/csv or ${parquet.contentType}`,
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxFileRows,
      description: `Rows. JSON: by default ${defaultJsonRows}, at most ${maxJsonRows}, and \`meta.hasMore\` says whether there are more. Files: by default all, and a file of more than ${maxFileRows} is refused`,
    }),
  ),
};
