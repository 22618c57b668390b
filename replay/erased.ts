/**
 * Leaves out of replays what was erased: the topics keep it until their retention ends.
 *
 * Input: the erasures of the environment. Output: a test of events. Counts and lists of a replay are without the events
 * that it finds.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReadableLog } from '../backends/embedded/reader.js';
import type { ConfigurationReader, Scope } from '../pipeline/catalog/types.js';
import type { SecretCipher } from '../pipeline/encryption.js';
import { topics } from '../pipeline/ports.js';
import { isBadRecord } from '../pipeline/records/decode.js';
import { scopeName } from '../pipeline/records/device-key.js';
import {
  coveredUntil,
  type ErasedTimes,
  erasedTimes,
  isErasedTime,
  isErasureCommand,
} from '../pipeline/records/erasure-command.js';
import { decodeBatch } from '../pipeline/stages/locations/steps.js';
import { codecs } from '../schemas/codecs.js';
import type { Event } from '../schemas/records.js';
import { recordPages, type Span } from './pages.js';

/** The subjects of erasures, in plain text. */
export interface Erased {
  /** When what each name of a user names was received: of a `userId`, a `deviceId` or an `_id`. */
  readonly users: ReadonlyMap<string, ErasedTimes>;
  /** `_id`s of events. */
  readonly events: ReadonlySet<string>;
  /** When everything was received that counts as erased, because the name of an erasure can't be decrypted. */
  readonly all: ErasedTimes | undefined;
  /** Ids of the erasures. */
  readonly ids: ReadonlySet<string>;
}

export const nothingErased: Erased = { users: new Map(), events: new Set(), all: undefined, ids: new Set() };

interface ErasedParts {
  readonly configuration: Pick<ConfigurationReader, 'erasures'>;
  readonly secretCipher: Pick<SecretCipher, 'decrypt'>;
  readonly clock: () => number;
}

/** Returns what was erased in an environment and may still be in the topics. */
export function erasedIn({ configuration, secretCipher, clock }: ErasedParts, scope: Scope): Erased {
  const users = new Map<string, ErasedTimes>();
  const events = new Set<string>();
  const ids = new Set<string>();
  const nowMs = clock();
  let all: ErasedTimes | undefined;
  // The oldest come first, so the latest erasure of a name counts.
  for (const record of configuration.erasures(scope)) {
    ids.add(record._id);
    if (record.subject === 'project') continue;
    const name = secretCipher.decrypt(record.target, record._id);
    const times = erasedTimes(coveredUntil(record, nowMs), nowMs);
    if (name === undefined) all = times;
    else if (record.subject === 'event') events.add(name);
    else users.set(name, times);
  }
  return { users, events, all, ids };
}

/**
 * Creates the test of the events of a partition. An erasure includes what a device sent before it named the user, which
 * only a later location tells. So the locations are read first if users were erased, and each event without a user of
 * such a device counts as erased.
 */
export async function createErasedTest(
  log: ReadableLog,
  scope: Scope,
  span: Pick<Span, 'partition' | 'from'>,
  { users, events, all }: Erased,
): Promise<(event: Event) => boolean> {
  const namesByDevice = await erasedNamesByDevice(log, scope, span, users);

  const isErasedName = (name: string | null, timeMs: number): boolean => {
    const times = users.get(name ?? '');
    return times !== undefined && isErasedTime(times, timeMs);
  };
  /** `_id`s of records that are erased whole: with what came after the request and before the states' commands. */
  const erasedIds = new Set<string>();

  return ({ id, user, actualCreatedAt }) => {
    if (events.has(id)) return true;
    if (all !== undefined && isErasedTime(all, actualCreatedAt)) return true;
    if (user === null) return false;
    if (user.id !== null && erasedIds.has(user.id)) return true;
    if ([user.id, user.userId, user.deviceId].some((name) => isErasedName(name, actualCreatedAt))) {
      if (user.id !== null) erasedIds.add(user.id);
      return true;
    }
    const namedLater = user.userId === null ? (namesByDevice.get(user.deviceId ?? '') ?? []) : [];
    return [...namedLater].some((name) => isErasedName(name, actualCreatedAt));
  };
}

/** Returns the erased userIds that each device has named. */
async function erasedNamesByDevice(
  log: ReadableLog,
  scope: Scope,
  { partition, from }: Pick<Span, 'partition' | 'from'>,
  users: Erased['users'],
): Promise<Map<string, ReadonlySet<string>>> {
  const keyPrefix = `${scopeName(scope)}/`;
  const found = new Map<string, Set<string>>();
  if (users.size === 0) return found;
  // A location after the range may name the user, too.
  const { end } = await log.bounds(topics.locations, partition);
  for await (const page of recordPages(log, { topic: topics.locations, partition, from, end })) {
    const records = page.filter(({ key }) => key.startsWith(keyPrefix));
    for (const item of decodeBatch(codecs.location, records).items) {
      if (isBadRecord(item) || isErasureCommand(item) || item.userId === null || !users.has(item.userId)) continue;
      const names = found.get(item.deviceId) ?? new Set<string>();
      found.set(item.deviceId, names.add(item.userId));
    }
    // Lets the process receive the request to end.
    await nextTurn();
  }
  return found;
}
