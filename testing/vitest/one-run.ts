/** Gives the test files of one run a common folder and start time, so that they can share results. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    oneRun: { readonly folder: string; readonly startedAtMs: number };
  }
}

/** Makes the folder and returns the function that deletes it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'fenceline-one-run-'));
  project.provide('oneRun', { folder, startedAtMs: Date.now() });
  return () => rm(folder, { recursive: true, force: true });
}
