/**
 * Snapshots of the analytics tables, for backups. A snapshot consists of hard links to the immutable parts of the
 * tables, so it takes no space at first, and lives in `shadow/` of the data folder.
 */
import { existsSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { cp, readdir, rm } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import type { Analytics } from '../../pipeline/ports.js';
import { freshId } from '../../schemas/ids.js';
import { isDiskFull, storageFull } from './space.js';

/** A table or view as of a snapshot. */
export interface FrozenTable {
  readonly name: string;
  /** The statement that creates it. */
  readonly create: string;
  /** The folder of its parts, relative to the data folder of the engine; null if it has none. */
  readonly folder: string | null;
}

interface TableRow {
  readonly name: string;
  readonly create: string;
  readonly paths: readonly string[];
}

type Statements = Pick<Analytics, 'command' | 'query'>;

/** Earlier snapshots belong to backups that ended or failed. */
const maxSnapshots = 3;
const snapshotsFolder = (path: string): string => join(path, 'shadow');
/** Of an id, its seconds. */
const timeDigits = 8;
/** The form of a snapshot's id, which becomes the name of a folder. */
export const snapshotIdPattern = /^[0-9a-f]{24}$/;

/**
 * Freezes every table of the engine on `path` under the id, 24 hex digits. Removes the oldest snapshot if there are
 * more than three. Throws PortError `storage_full` and leaves nothing when the disk is full.
 */
export async function freezeTables(analytics: Statements, path: string, id: string): Promise<FrozenTable[]> {
  if (!snapshotIdPattern.test(id)) throw new Error(`${id} is not the id of a snapshot`);
  await removeOldest(path);
  removeEmptyCounter(path);
  try {
    return await freezeAll(analytics, path, id);
  } catch (error) {
    await removeSnapshot(path, id);
    if (removeEmptyCounter(path) || isDiskFull(error, path)) throw storageFull();
    throw error;
  }
}

/**
 * Removes the engine's counter of snapshots if it is empty, and returns whether it was. A full disk leaves it so, and
 * the engine refuses to read it ever after.
 */
function removeEmptyCounter(path: string): boolean {
  const file = join(snapshotsFolder(path), 'increment.txt');
  if (statSync(file, { throwIfNoEntry: false })?.size !== 0) return false;
  rmSync(file, { force: true });
  return true;
}

async function freezeAll(analytics: Statements, path: string, id: string): Promise<FrozenTable[]> {
  const rows = await analytics.query<TableRow>(
    `SELECT name, create_table_query AS create, data_paths AS paths FROM system.tables
     WHERE database = currentDatabase() ORDER BY name`,
  );
  const frozen: FrozenTable[] = [];
  for (const { name, create, paths } of rows) {
    if (paths[0] !== undefined) await analytics.command(`ALTER TABLE ${name} FREEZE WITH NAME '${id}'`);
    frozen.push({ name, create, folder: paths[0] === undefined ? null : folderOf(path, id, paths[0]) });
  }
  return frozen;
}

/** Returns the folder of the frozen parts of a table, null if the table is empty. */
function folderOf(path: string, id: string, dataPath: string): string | null {
  const folder = join('shadow', id, relative(realpathSync(path), realpathSync(dataPath)));
  return existsSync(join(path, folder)) ? folder : null;
}

/** Returns the ids of the snapshots, the oldest first. Ids begin with their time. */
async function snapshotsOn(path: string): Promise<string[]> {
  const names = await readdir(snapshotsFolder(path)).catch(() => []);
  return names.filter((name) => snapshotIdPattern.test(name)).sort();
}

async function removeOldest(path: string): Promise<void> {
  const ids = await snapshotsOn(path);
  for (const id of ids.slice(0, Math.max(0, ids.length - maxSnapshots + 1))) await removeSnapshot(path, id);
}

/** Removes a snapshot. A snapshot that is gone already is not an error. */
export async function removeSnapshot(path: string, id: string): Promise<void> {
  if (!snapshotIdPattern.test(id)) throw new Error(`${id} is not the id of a snapshot`);
  await rm(join(snapshotsFolder(path), id), { recursive: true, force: true });
}

/** A backup takes less. Its snapshot stays when it is killed. */
const maxAgeMs = 86_400_000;

/** Removes snapshots that are older than a day: their backups were killed. */
export async function removeOldSnapshots(path: string, nowMs: number): Promise<void> {
  const oldest = freshId(nowMs - maxAgeMs).slice(0, timeDigits);
  for (const id of await snapshotsOn(path)) if (id.slice(0, timeDigits) < oldest) await removeSnapshot(path, id);
}

/** Removes what backups of an earlier process left. Call it before the engine opens the folder. */
export function removeAllSnapshots(path: string): void {
  if (!existsSync(snapshotsFolder(path))) return;
  for (const name of readdirSync(snapshotsFolder(path)).filter((each) => snapshotIdPattern.test(each)))
    rmSync(join(snapshotsFolder(path), name), { recursive: true, force: true });
}

/**
 * Creates the tables in an empty engine on `path`, and attaches their parts. `folder` of each table is that of its
 * parts, absolute. Throws when a part is damaged.
 */
export async function attachTables(analytics: Statements, path: string, tables: readonly FrozenTable[]): Promise<void> {
  await createAll(
    analytics,
    tables.map(({ create }) => create),
  );
  for (const { name, folder } of tables) {
    if (folder === null) continue;
    const [row] = await analytics.query<{ paths: string[] }>(
      `SELECT data_paths AS paths FROM system.tables WHERE database = currentDatabase() AND name = '${name}'`,
    );
    await cp(folder, join(resolve(path, row?.paths[0] ?? ''), 'detached'), { recursive: true });
    await analytics.command(`ALTER TABLE ${name} ATTACH PARTITION ALL`);
  }
  const left = await analytics.query<{ part: string }>(
    "SELECT concat(table, ' ', name) AS part FROM system.detached_parts",
  );
  if (left.length > 0) throw new Error(`parts that could not be attached: ${left.map(({ part }) => part).join(', ')}`);
}

/** Runs the statements. A view that needs a later statement is retried after it. */
async function createAll(analytics: Statements, statements: readonly string[]): Promise<void> {
  let failure: unknown;
  const failed: string[] = [];
  for (const statement of statements) {
    try {
      await analytics.command(statement);
    } catch (error) {
      failure = error;
      failed.push(statement);
    }
  }
  if (failed.length === statements.length && failed.length > 0) throw failure;
  if (failed.length > 0) await createAll(analytics, failed);
}
