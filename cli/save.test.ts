import { mkdtempSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkOutput } from './save.js';

// A command that was killed between the two steps of the check left an empty file, which looked like its result.
test('the check of a new output file makes no file of its name', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-save-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const changed = new Set<string>();
  const watcher = watch(folder);
  onTestFinished(() => watcher.close());
  const allSeen = new Promise<void>((resolve) => {
    watcher.on('change', (_, name) => {
      changed.add(String(name));
      if (name === 'last') resolve();
    });
  });
  checkOutput('output', join(folder, 'stores.csv'));
  writeFileSync(join(folder, 'last'), '');
  await allSeen;
  expect(changed).toEqual(new Set(['stores.csv.unfinished', 'last']));
});
