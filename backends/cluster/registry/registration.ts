/**
 * Determines the schema ids at the start of a process. It registers every version that was ever shipped, or uses the
 * known ids while the registry is out of reach. If one is not known, the start waits: no process could do better.
 *
 * An id with two meanings is refused, because records with it would be misread.
 */
import type { Topic } from '../../../pipeline/ports.js';
import { retried } from '../../../pipeline/retrying.js';
import { isRefusal, type RegistryClient } from './client.js';
import type { KnownId, KnownIds } from './known-ids.js';
import { isSameLayout } from './layout.js';
import type { Version } from './shipped-schemas.js';

/** How long requests to the registry are retried before the known ids are used, or the wait is reported. */
const shortOutageMs = 5_000;

interface RegistrationParts {
  readonly client: RegistryClient;
  readonly knownIds: KnownIds;
  /** The versions of all topics, in order of registration. */
  readonly versions: readonly Version[];
  readonly subjectOf: (topic: Topic) => string;
  readonly outageLimitMs: number;
  readonly onProblem: (problem: string) => void;
  /** Ends the wait. */
  readonly signal: AbortSignal | undefined;
}

interface StartIds {
  readonly known: readonly KnownId[];
  readonly writeIds: ReadonlyMap<Topic, number>;
}

/** Returns all known ids, and those with which this process writes. Rejects when ids contradict each other. */
export async function idsAtStart(parts: RegistrationParts): Promise<StartIds> {
  const { knownIds } = parts;
  const given = await registered(parts);
  const before = await knownIds.read();
  if (given === undefined) return { known: before, writeIds: writeIdsFrom(before, parts).ids };
  refuseContradictions([...before, ...given]);
  await knownIds.write(given);
  const known = [...(await knownIds.read()), ...given];
  // Another node may have written ids in between, before the registry lost its data.
  refuseContradictions(known);
  return { known, writeIds: writeIdsFrom(given, parts).ids };
}

/** Registers the versions. Returns undefined when the registry is out of reach but all ids are known. */
async function registered(parts: RegistrationParts): Promise<readonly KnownId[] | undefined> {
  const { knownIds, outageLimitMs, onProblem, signal } = parts;
  const missing = async (): Promise<string[]> => writeIdsFrom(await knownIds.read(), parts).missing;
  const limitMs = Math.min(shortOutageMs, outageLimitMs);
  try {
    return await retried(() => registerAll(parts), { limitMs, isFinal: isRefusal });
  } catch (error) {
    if (isRefusal(error)) throw error;
    const names = (await missing()).join(', ');
    const consequence = names
      ? `the start waits for it, because no id is known for ${names}`
      : 'records are written with the ids that it assigned before';
    onProblem(`${(error as Error).message}; ${consequence}`);
  }
  // Another node may have registered them meanwhile.
  const attempt = async () => ((await missing()).length === 0 ? undefined : registerAll(parts));
  return retried(attempt, { limitMs: Number.POSITIVE_INFINITY, isFinal: isRefusal, signal });
}

/** Returns each version with its id in the registry, in the order of `versions`. */
async function registerAll({ client, versions, subjectOf }: RegistrationParts): Promise<KnownId[]> {
  const given: KnownId[] = [];
  const givenAtMs = Date.now();
  for (const { topic, name, schema } of versions) {
    const subject = subjectOf(topic);
    try {
      if (!given.some((other) => other.subject === subject)) await client.requireCompatibility(subject);
      given.push({ subject, id: await client.register(subject, schema), schema, givenAtMs });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      throw new Error(`${name} can't be registered: ${(error as Error).message}`, { cause: error });
    }
  }
  return given;
}

/** Returns the id with which each topic is written, and the versions without an id. */
function writeIdsFrom(
  ids: readonly KnownId[],
  { versions, subjectOf }: RegistrationParts,
): { ids: Map<Topic, number>; missing: string[] } {
  const found = new Map<Topic, number>();
  const missing: string[] = [];
  for (const [topic, newest] of new Map(versions.map((version) => [version.topic, version]))) {
    const id = newestIdOf(ids, subjectOf(topic), newest.schema);
    if (id === undefined) missing.push(newest.name);
    else found.set(topic, id);
  }
  return { ids: found, missing };
}

/** Returns the latest id of the same layout; among ids of the same time, the one of exactly this schema. */
function newestIdOf(ids: readonly KnownId[], subject: string, schema: string): number | undefined {
  const isOwn = (known: KnownId): number => Number(known.schema === schema);
  return ids
    .filter((known) => known.subject === subject && isSameLayout(known.schema, schema))
    .sort((a, b) => a.givenAtMs - b.givenAtMs || isOwn(a) - isOwn(b) || a.id - b.id)
    .at(-1)?.id;
}

function refuseContradictions(ids: readonly KnownId[]): void {
  const meanings = new Map<string, KnownId>();
  for (const known of ids) {
    const key = `${known.id} ${known.subject}`;
    const first = meanings.get(key);
    if (first && !isSameLayout(first.schema, known.schema)) {
      throw new Error(
        `schema id ${known.id} of subject ${known.subject} now means another version: the registry lost its data and ` +
          'assigns ids again. Records would be misread: restore its data, or see ' +
          'docs/decisions/014-registry-ids-on-the-wire.md',
      );
    }
    meanings.set(key, first ?? known);
  }
}
