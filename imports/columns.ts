/** Checks the header of a CSV file against the field table of its resource. */
import { FieldReader } from '../http/fields/reader.js';
import { baseOf, type FieldTable, unknownField } from '../http/fields/table.js';
import { maxMetadataKeys } from '../schemas/json/common.js';
import { BrokenSource, brokenByte, utf8Rule } from './source.js';

/** The columns that a file of rejected rows has in addition. An import ignores them, so the file can be sent again. */
export const rejectionColumns = ['rejected.line', 'rejected.column', 'rejected.rule'] as const;

/** Returns whether an import ignores the column, which a file of rejected rows has in addition. */
export const isIgnored = (name: string): boolean => (rejectionColumns as readonly string[]).includes(name);

const isKeyed = (name: string, base: string): boolean => name !== base && baseOf(name) === base;

/** Returns the names of the columns that files of the resource may have. `metadata` stands for its keys as well. */
export const columnsOf = (table: FieldTable): string[] => Object.keys(table).filter((name) => table[name]!.isOffered);

function refuse(line: number, column: string, rule: string): never {
  throw new BrokenSource(line, { column, rule });
}

const separators = [
  [';', 'semicolons'],
  ['\t', 'tabs'],
  ['|', 'vertical bars'],
] as const;

/** Spreadsheets of many countries write semicolons, and then the whole header is one unknown column. */
function refuseOtherSeparators(names: readonly string[], line: number): void {
  if (names.length > 1) return;
  const found = separators.find(([separator]) => names[0]?.includes(separator));
  if (found) refuse(line, 'file', `separates its columns by ${found[1]}; they must be separated by commas`);
}

/**
 * A misspelt key would be refused in every row. Too many keys would not, because rows may fill different columns. So no
 * more columns are read at once than one record may have keys. Of so many columns of days two name the same day, which
 * is refused too.
 */
function refuseBadKeys(table: FieldTable, names: readonly string[], line: number): void {
  for (const [base, { hasKeys, read }] of Object.entries(table)) {
    const keyed = names.filter((name) => isKeyed(name, base));
    if (!hasKeys || keyed.length === 0) continue;
    if (names.includes(base)) refuse(line, base, `can't be combined with ${keyed[0]}`);
    for (let start = 0; start < keyed.length; start += maxMetadataKeys) {
      const some = keyed.slice(start, start + maxMetadataKeys);
      // An empty list suits every field with keys: a day without opening hours, and text of metadata.
      const reader = new FieldReader(Object.fromEntries(some.map((name) => [name, '[]'])));
      read(reader, base, {});
      const outcome = reader.outcome(() => undefined);
      if (!outcome.ok) refuse(line, base, outcome.error.message.replace(`${base}: `, ''));
    }
  }
}

function refuseMissing(table: FieldTable, names: readonly string[], line: number): void {
  const missing = Object.keys(table).find((name) => table[name]!.isRequired && !names.includes(name));
  if (missing !== undefined) refuse(line, missing, 'is required, but the header has no such column');
}

/**
 * Checks the names, before any row is applied. Returns the indexes of the columns to ignore. Throws BrokenSource, with
 * the known column that was probably meant.
 */
export function readHeader(table: FieldTable, names: readonly string[], line: number): ReadonlySet<number> {
  refuseOtherSeparators(names, line);
  const ignored = new Set<number>();
  const seen = new Set<string>();
  names.forEach((name, index) => {
    if (isIgnored(name)) {
      ignored.add(index);
      return;
    }
    if (name === '') refuse(line, 'header', `column ${index + 1} has no name`);
    if (name.includes(brokenByte)) refuse(line, 'header', utf8Rule);
    const problem = unknownField(table, { [name]: '' });
    if (problem !== undefined) refuse(line, problem.param, problem.rule.replace('field', 'column'));
    if (seen.has(name)) refuse(line, name, 'is the name of two columns');
    seen.add(name);
  });
  refuseBadKeys(table, [...seen], line);
  refuseMissing(table, [...seen], line);
  return ignored;
}
