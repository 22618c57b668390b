/** The rows of an import, as the server's files and answers list them. Pure. */
import type { Import } from '../../client/types';
import { readCsv } from './csv';

/** A row of an import: the action for it, or what is wrong with it. */
export interface ImportRow {
  readonly line: number;
  readonly action: 'created' | 'updated' | 'unchanged' | 'rejected';
  readonly tag: string;
  readonly externalId: string;
  /** Of an update: the fields that would change. */
  readonly changed?: string;
  /** Of a bad row: the column, what it holds, and the rule that it breaks. */
  readonly column?: string;
  readonly value?: string;
  readonly rule?: string;
}

/** Returns the rows of a file of the server as objects by the names of its columns. */
function records(text: string): Record<string, string>[] {
  const [header, ...rows] = readCsv(text).rows;
  const names = header?.cells ?? [];
  return rows.map(({ cells }) => Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ''])));
}

/** Reads the CSV of the rows that an import changes or has changed. */
export const plannedRows = (text: string): ImportRow[] =>
  records(text).map(({ line, action, tag = '', externalId = '', changed = '' }) => ({
    line: Number(line),
    action: action as ImportRow['action'],
    tag,
    externalId,
    changed: changed.replaceAll(' ', ', '),
  }));

/** Reads the CSV of the rows that an import refused, with the cell that broke a rule. */
export const rejectedRows = (text: string): ImportRow[] =>
  records(text).map((row) => {
    const column = row['rejected.column'] ?? '';
    return {
      line: Number(row['rejected.line']),
      action: 'rejected',
      tag: row.tag ?? '',
      externalId: row.externalId ?? '',
      column,
      value: row[column] ?? '',
      rule: row['rejected.rule'] ?? '',
    };
  });

/** Returns the first rows, which the import itself names: the files of older imports are removed. */
export const firstRows = ({ rejections = [], plannedRows: planned = [] }: Import): ImportRow[] => [
  ...planned.map(({ tag, externalId, changed = [], ...row }) => ({
    ...row,
    tag: tag ?? '',
    externalId: externalId ?? '',
    changed: changed.join(', '),
  })),
  ...rejections.map((row) => ({ ...row, action: 'rejected' as const, tag: '', externalId: '' })),
];
