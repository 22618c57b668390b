/** Copies the LMDB environments of a data folder while other threads and processes write to them. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openInFolder } from './environment.js';

/**
 * Deliveries derive from events, and events from locations. Each environment is copied after those that derive from it,
 * so that no copy is ahead of its source: a restored node repeats whatever a copy lacks.
 */
export const environmentNames = ['deliveries', 'state', 'log'] as const;

/**
 * Copies each environment as of one moment, without its free pages. `target` must exist. Begins no further copy once
 * the signal is aborted, and rejects with its reason.
 */
export async function copyEnvironments(path: string, target: string, signal: AbortSignal): Promise<void> {
  for (const name of environmentNames) {
    signal.throwIfAborted();
    // Read-only: it takes an entry in the table of readers, and writes nothing.
    const root = await openInFolder(path, name);
    try {
      mkdirSync(join(target, name));
      await root.backup(join(target, name), true);
    } finally {
      await root.close();
    }
  }
}

const prefixOf = (group: string): Buffer => Buffer.from(`${group}|`);
const afterPrefix = (group: string): Buffer => Buffer.from(`${group}}`);

async function openPositions(path: string, readOnly: boolean) {
  const root = await openInFolder(path, 'state', readOnly);
  const table = root.openDB<Buffer, Buffer>('positions', { keyEncoding: 'binary', encoding: 'binary' });
  return { root, table: table as typeof table | undefined };
}

/** Returns the stored positions of a consumer group by topic and partition, as they are stored, in Base64. */
export async function readStoredPositions(path: string, group: string): Promise<Record<string, string>> {
  const { root, table } = await openPositions(path, true);
  try {
    const range = table?.getRange({ start: prefixOf(group), end: afterPrefix(group) }) ?? [];
    return Object.fromEntries([...range].map(({ key, value }) => [key.toString(), value.toString('base64')]));
  } finally {
    await root.close();
  }
}

/** Replaces the stored positions of a consumer group. Resolves when they are on disk. */
export async function writeStoredPositions(
  path: string,
  group: string,
  positions: Readonly<Record<string, string>>,
): Promise<void> {
  const { root, table } = await openPositions(path, false);
  try {
    await root.transaction(() => {
      for (const key of [...(table?.getKeys({ start: prefixOf(group), end: afterPrefix(group) }) ?? [])])
        table?.removeSync(key);
      for (const [key, value] of Object.entries(positions))
        table?.putSync(Buffer.from(key), Buffer.from(value, 'base64'));
    });
    await root.flushed;
  } finally {
    await root.close();
  }
}
