/**
 * An import whose process is killed. The program stops itself after a number of writes, so that the kill meets the same
 * moment on every machine.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freshId } from '../../schemas/ids.js';
import { startProgram } from '../../testing/built.js';

const rows = 3_500;
/** Enough rows for a large file, which the import thread reads. */
const description = 'A shop with a long description. '.repeat(10);
const header = 'description,type,tag,externalId,coordinates,radius';
const file = [
  header,
  ...Array.from({ length: rows }, (_, index) => `${description},circle,store,shop-${index},"[10.5,50.25]",100`),
].join('\n');

describe.each(['main', 'thread'])('an import in the %s thread of a process that is killed', (where) => {
  it('keeps the rows that were acknowledged, names its last line, and is completed by repeating the file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fenceline-import-killed-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'stores.csv');
    writeFileSync(path, file);
    const program = (...rest: string[]) =>
      startProgram('test/contract/programs/import-until-killed', [folder, project, path, where, ...rest]);
    const project = freshId();

    const killed = program('2');
    await killed.printed(1);
    killed.child.kill('SIGKILL');
    expect(await killed.ended).toBe('SIGKILL');
    const acknowledged = JSON.parse(killed.lines[0]!);
    expect(acknowledged).toMatchObject({ status: 'running', rejected: 0, updated: 0 });
    expect(acknowledged.created).toBeGreaterThan(0);
    expect(acknowledged.created).toBeLessThan(rows);
    expect(acknowledged.lastLine).toBe(acknowledged.created + 1);

    const again = program();
    expect(await again.ended).toBe(0);
    const { found, geofences, imported } = JSON.parse(again.lines[0]!);
    expect(found).toEqual({ ...acknowledged, status: 'interrupted' });
    expect(geofences).toBe(acknowledged.created);
    expect(imported).toMatchObject({
      status: 'completed',
      rows,
      unchanged: acknowledged.created,
      created: rows - acknowledged.created,
      updated: 0,
      rejected: 0,
      lastLine: rows + 1,
    });
  });
});
