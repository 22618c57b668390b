/** Computes a value once for all test files of a run, in whichever process asks first. */
import { open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { until } from '../../testing/until.js';

type Outcome<T> = { readonly value: T } | { readonly failure: string };

const timeoutMs = 300_000;

/**
 * Returns what `compute` resolves to, which must survive JSON. The others wait for the first; its failure is theirs.
 */
export async function onceInThisRun<T>(name: string, compute: () => Promise<T>): Promise<T> {
  const file = join(inject('oneRun').folder, name);
  if (await claim(`${file}.claimed`)) {
    const outcome: Outcome<T> = await compute().then(
      (value) => ({ value }),
      (error: unknown) => ({ failure: String(error) }),
    );
    await writeFile(`${file}.part`, JSON.stringify(outcome));
    await rename(`${file}.part`, file);
  }
  const text = await until(() => readFile(file, 'utf8').catch(() => undefined), {
    timeoutMs,
    describe: () => `${name} is being computed by another file`,
  });
  const outcome = JSON.parse(text) as Outcome<T>;
  if ('failure' in outcome) throw new Error(`${name}: ${outcome.failure}`);
  return outcome.value;
}

/** Returns whether this process is the first to claim the path. */
async function claim(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx')).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
