/**
 * A file of 52 kB with 3,000 columns and 4,000 short rows took 21 seconds of the event loop, and one of a megabyte
 * hours: each bad row was written with all columns, and each column was sought among all of them.
 */
import { expect, test } from 'vitest';
import { geofenceFields } from '../api/geofences/fields.js';
import { rejectedHeader, rejectedLine } from './files.js';
import { newScope, useWorkbench } from './testing/fixtures.js';

// The earlier code took minutes for files of these sizes, so the time limits fail it on any machine.
const bench = useWorkbench({ maxFileCharacters: 100_000 });
const problem = { column: 'row', rule: 'is bad' };
const columnsOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `metadata.k${index}`);

test('a file of bad rows has the columns of the file, but for those that it adds itself', () => {
  const header = ['tag', 'rejected.line', 'metadata.a'];
  const row = { line: 7, content: { problem }, cells: ['store', '3', '=1'] };
  expect(rejectedHeader(header, geofenceFields)).toBe('tag,metadata.a,rejected.line,rejected.column,rejected.rule\r\n');
  expect(rejectedLine(row, problem, header, geofenceFields)).toBe("store,'=1,7,row,is bad\r\n");
});

test('the line of a bad row takes time for its cells only', { timeout: 30_000 }, () => {
  const columns = columnsOf(400_000);
  const row = { line: 2, content: { problem }, cells: ['x'] };
  expect(rejectedLine(row, problem, columns, geofenceFields)).toMatch(/^x,,+2,row,is bad\r\n$/);
});

test('bad rows beyond the limit of their file take no time for its columns', { timeout: 30_000 }, async () => {
  const required = ['tag', 'externalId', 'description', 'type', 'coordinates', 'radius'];
  const file = `${[...required, ...columnsOf(20_000)].join()}\n${'x\n'.repeat(20_000)}`;
  expect(await bench.import(newScope(), file)).toMatchObject({ status: 'completed', rejected: 20_000 });
});
