/** Downloads a list of Radar into a file, page by page. An interrupted download continues after the last whole page. */
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import type { Access } from '../server.js';
import { jsonLinesOf, wholeLinesBytes } from './json-lines.js';
import { type ListedRecord, pagesOf } from './pages.js';

/** A list of Radar that can be copied. */
export interface DownloadedList {
  readonly resource: 'geofences' | 'beacons';
  /** The time by which Radar pages the list. */
  readonly time: 'updatedAt' | 'createdAt';
  /** Returns the row of a record: fields of Fenceline with tag and external id. */
  readonly fieldsOf: (record: ListedRecord) => Record<string, unknown>;
}

/**
 * Writes a list into a file, a row a line. Returns the number of rows. While it runs, the rows are in
 * `FILE.unfinished`, and the place of the next page is in `FILE.unfinished.before`.
 */
export async function download(
  radar: Access,
  file: string,
  { resource, time, fieldsOf }: DownloadedList,
): Promise<number> {
  const unfinished = `${file}.unfinished`;
  const cursor = `${unfinished}.before`;
  const before = cursorIn(cursor, unfinished);
  if (before === undefined) writeFileSync(unfinished, '');
  const known = await pairsIn(unfinished);
  for await (const page of pagesOf(radar, { path: resource, time, before })) {
    const rows = page.records.map(fieldsOf).filter((row) => !known.has(pairOf(row)));
    for (const row of rows) known.add(pairOf(row));
    // The cursor must not reach the disk before the rows that it skips.
    appendFileSync(unfinished, rows.map((row) => `${JSON.stringify(row)}\n`).join(''), { flush: true });
    if (page.before !== undefined) replaceFile(cursor, page.before);
  }
  renameSync(unfinished, file);
  rmSync(cursor, { force: true });
  return known.size;
}

/** Returns where an interrupted download continues; undefined if it must start anew. */
function cursorIn(cursor: string, unfinished: string): string | undefined {
  if (!existsSync(cursor) || !existsSync(unfinished)) return undefined;
  const before = readFileSync(cursor, 'utf8').trim();
  return Number.isNaN(Date.parse(before)) ? undefined : before;
}

function replaceFile(file: string, text: string): void {
  const next = `${file}.next`;
  writeFileSync(next, text, { flush: true });
  renameSync(next, file);
}

const pairOf = ({ tag, externalId }: Record<string, unknown>): string => JSON.stringify([tag, externalId]);

/** Returns the pairs of the rows. A last line that was cut off is removed, because its page is read again. */
async function pairsIn(unfinished: string): Promise<Set<string>> {
  truncateSync(unfinished, await wholeLinesBytes(unfinished));
  const pairs = new Set<string>();
  for await (const { fields } of jsonLinesOf(unfinished)) pairs.add(pairOf(fields));
  return pairs;
}
