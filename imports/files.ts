/**
 * The files of an import as CSV: its bad rows, and the rows of a dry run. They are stored in parts, as changes, so that
 * every node can answer them.
 */
import { FieldReader } from '../http/fields/reader.js';
import type { FieldTable } from '../http/fields/table.js';
import { isDictionary } from '../http/fields/values.js';
import { partsOfImport } from '../pipeline/catalog/store/tables/environment-records.js';
import type { ConfigurationChange, ImportHistory, Scope } from '../pipeline/catalog/types.js';
import { importPartId } from '../schemas/ids.js';
import type { ImportFileName, ImportRecord } from '../schemas/json/import.js';
import { cutText } from '../schemas/wording.js';
import { columnsOf, isIgnored, rejectionColumns } from './columns.js';
import { csvLine, unguardCell } from './csv-cells.js';
import type { RowProblem, SourceRow } from './source.js';

/** A record is one message of topic `changes`, and Kafka brokers accept 1,048,576 bytes. JSON may double the text. */
const partCharacters = 200_000;

/** Collects the text of a file, and hands it out in parts. Beyond the limit rows are counted, not kept. */
export class FileWriter {
  #text = '';
  #characters = 0;
  #parts = 0;
  #isCut = false;

  constructor(
    private readonly head: Pick<ImportRecord, '_id' | 'project' | 'environment' | 'createdAt'>,
    private readonly name: ImportFileName,
    private readonly maxCharacters: number,
  ) {}

  /** Returns what the import's record says of the file. */
  get state(): ImportRecord['files'][ImportFileName] {
    return { parts: this.#parts, isCut: this.#isCut };
  }

  /** Lines that are added have no effect any more. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Adds a line. Once one does not fit, the file is cut and all later lines are dropped. */
  add(line: string): void {
    this.#isCut ||= this.#characters + line.length > this.maxCharacters;
    if (this.#isCut) return;
    this.#characters += line.length;
    this.#text += line;
  }

  /** Returns the changes that store the complete parts, or, at the end, everything. */
  take(isEnd: boolean, nowMs: number): ConfigurationChange[] {
    const changes: ConfigurationChange[] = [];
    while (this.#text.length >= partCharacters || (isEnd && this.#text !== '')) {
      const text = cutText(this.#text, partCharacters);
      this.#text = this.#text.slice(text.length);
      const { _id, project, environment, createdAt } = this.head;
      const id = importPartId(_id, this.name, this.#parts);
      const record = { _id: id, project, environment, createdAt, updatedAt: nowMs, text };
      changes.push({ kind: 'import-part', id, record });
      this.#parts += 1;
    }
    return changes;
  }
}

/** Yields the text of a file of an import. */
export function* fileText(
  history: ImportHistory,
  scope: Scope,
  { _id, files }: ImportRecord,
  name: ImportFileName,
): Generator<string> {
  for (let index = 0; index < files[name].parts; index++) {
    yield history.part(scope, importPartId(_id, name, index)) ?? '';
  }
}

/** Returns the changes that delete the files of an import. */
export const deletedFiles = (record: ImportRecord): ConfigurationChange[] =>
  partsOfImport(record).map((part) => ({ ...part, record: null }));

const cellOf = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/**
 * Returns a cell for each column. What is beyond them follows in the last one: a comma without quotes divides a cell,
 * and the cells after it would be lost.
 */
function cellsOfColumns(cells: readonly string[], columns: readonly string[]): string[] {
  const beyond = cells.slice(columns.length);
  const isMore = beyond.some((cell) => cell.trim() !== '');
  const last = columns.length - 1;
  return columns.map((_, index) =>
    isMore && index === last ? cells.slice(last).join(',') : unguardCell(cells[index] ?? ''),
  );
}

/** Returns the cells of a row of any format, in the order of the columns. */
function cellsOf({ cells, content }: SourceRow, columns: readonly string[], table: FieldTable): string[] {
  if (cells !== undefined) return cellsOfColumns(cells, columns);
  const reader = new FieldReader(content.fields ?? {});
  // JSON may name each key, as in `metadata.color`, for which there is no column.
  return columns.map((name) =>
    cellOf(reader.value(name) ?? (table[name]?.hasKeys ? reader.dictionary(name) : undefined)),
  );
}

/** Returns the first line of a file of bad rows: the header of their file, or all columns where the file had none. */
export const rejectedHeader = (header: readonly string[] | undefined, table: FieldTable): string =>
  csvLine([...(header ?? columnsOf(table)).filter((name) => !isIgnored(name)), ...rejectionColumns]);

/** Returns the line of a bad row. */
export function rejectedLine(
  row: SourceRow,
  problem: RowProblem,
  header: readonly string[] | undefined,
  table: FieldTable,
): string {
  const columns = header ?? columnsOf(table);
  const cells = cellsOf(row, columns, table).filter((_, index) => !isIgnored(columns[index]!));
  return csvLine([...cells, `${row.line}`, problem.column, problem.rule]);
}

const maxShownCharacters = 100;

/** Returns the beginning of what a column of a row holds. */
export function shownValue({ content, cells }: SourceRow, column: string): string {
  const { fields } = content;
  if (fields === undefined) return cutText(cells?.join(',') ?? '', maxShownCharacters).toWellFormed();
  const [base = '', key] = column.split(/\.(.*)/s);
  const whole = fields[base];
  const value = fields[column] ?? (isDictionary(whole) && key !== undefined ? whole[key] : whole);
  return cutText(cellOf(value), maxShownCharacters).toWellFormed();
}
