/**
 * Discards the read model of a cluster node that the node can't use, before it is opened. The node then makes it again
 * from topic `changes`: no other data is in its folder.
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { dayMs } from '../../schemas/durations.js';
import type { Configuration } from '../config/schema.js';
import { damageOf } from './damaged-files.js';
import { discardOtherFormat, readModelFolder } from './folders.js';

/**
 * Age after which an unused read model is rebuilt: half of the retention of tombstones on a cluster's topic `changes`.
 */
export const maxReadModelAgeMs = 15 * dayMs;

/** A topic `changes`, and the present in epoch ms. */
interface ReadModelUse {
  readonly changesId: string;
  readonly nowMs: number;
}

/** Discards a read model that is damaged, too old, of another topic or of another format, and logs why. */
export function prepareReadModel(configuration: Configuration, use: ReadModelUse, logger: Pick<Logger, 'warn'>): void {
  const folder = readModelFolder(configuration);
  const isUsed = existsSync(join(folder, 'data.mdb'));
  const reason = isUsed ? unusableBecause(folder, use) : undefined;
  if (reason !== undefined) logger.warn({ folder, reason }, 'the read model is made again from topic changes');
  if (reason !== undefined || !isUsed) rmSync(folder, { recursive: true, force: true });
  discardOtherFormat(configuration);
  if (madeFrom(folder) === undefined) writeFileSync(madeFromFile(folder), use.changesId);
}

function unusableBecause(folder: string, { changesId, nowMs }: ReadModelUse): string | undefined {
  const damage = damageOf(join(folder, 'data.mdb'));
  if (damage !== undefined) return `it is damaged: ${damage}`;
  // A mark is no proof: the topics of two clusters may have no record at its offset.
  const made = madeFrom(folder);
  if (made === undefined && existsSync(join(folder, '..', 'log'))) return 'it is of an embedded node';
  if (made !== undefined && made !== changesId) return `it is of another cluster: made from ${made}, not ${changesId}`;
  // Without the tombstones, which are gone from the topic, the node would miss deletions, for example of a key.
  const openedMs = Math.max(...readdirSync(folder).map((name) => statSync(join(folder, name)).mtimeMs));
  return nowMs - openedMs > maxReadModelAgeMs ? 'it was not used for more than 15 days' : undefined;
}

const madeFromFile = (folder: string): string => join(folder, 'made-from');

/** Returns the id of the topic; undefined if the read model is new, or of a release that did not note it. */
function madeFrom(folder: string): string | undefined {
  const file = madeFromFile(folder);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
