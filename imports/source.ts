/** The rows of a file, as the readers of formats make them and the import takes them. */
import type { RawFields } from '../http/fields/reader.js';
import type { ErrorCode } from '../schemas/errors.js';

/** Why a row cannot be applied. */
export interface RowProblem {
  /** The column or field that breaks its rule; `row` for the row as a whole. */
  readonly column: string;
  /** Continues a sentence that begins with the column, such as `must be a number`. */
  readonly rule: string;
  /** Of what a single write would be refused with. Default: `invalid_parameter`. */
  readonly code?: ErrorCode;
}

/** A row as it stands in the file. */
export interface SourceRow {
  /** Line on which the row begins, counted from 1. In GeoJSON the number of the feature. */
  readonly line: number;
  /** The fields by name, or why the row could not be read, with the fields that it has nevertheless. */
  readonly content: { readonly fields: RawFields } | { readonly problem: RowProblem; readonly fields?: RawFields };
  /** The cells of a CSV row, in the order of the header. */
  readonly cells?: readonly string[];
}

/** Rows that were read together. Iterators yield at least every chunk of the file, so that others run in between. */
export interface RowBatch {
  readonly rows: readonly SourceRow[];
  /** The header of a CSV file. */
  readonly header?: readonly string[];
  /** Bytes of the file that were read so far. */
  readonly bytesRead: number;
}

/** The file cannot be read from a line on. Rows before it are valid. */
export class BrokenSource extends Error {
  constructor(
    readonly line: number,
    readonly problem: RowProblem,
  ) {
    super(`line ${line}: ${problem.column}: ${problem.rule}`);
    this.name = 'BrokenSource';
  }
}

/**
 * Limit of one row: bytes of CSV, or characters of JSON, which has at least as many bytes. A geofence with all fields
 * at their limits takes half of it: a million characters of user ids, which quoting may double.
 */
export const maxRowLength = 4 * 2 ** 20;

/** Stands for bytes that are not UTF-8. A noncharacter of Unicode, which no text contains. */
export const brokenByte = '\ufdd0';
/** What an error says about a file in another encoding. */
export const utf8Rule = 'must be UTF-8; save the file with this encoding';
