/**
 * What ids on the wire mean, found out from the registry and from the ids known to Redis.
 *
 * Flows in: where both are. Flows out: {@link WireSchemas}. Ids that Redis knows are what Redis says, for a registry
 * that lost its data may give them out again; ids that only the registry knows are added. May import `schemas/` and
 * `pipeline/ports.ts`.
 */
import { type Topic, topics } from '../../../pipeline/ports.js';
import type { RegistryOptions } from '../options.js';
import { outageLimitMs as defaultOutageLimitMs, retried } from '../retrying.js';
import { createRegistryClient, isId, isRefusal } from './client.js';
import { restoreRecord } from './dead-letters.js';
import type { KnownId, KnownIds } from './known-ids.js';
import { idsAtStart } from './registration.js';
import { TopicIds } from './topic-ids.js';
import { shipped, type Vocabulary } from './vocabulary.js';
import type { WireSchemas } from './wire-schemas.js';

export interface WireSchemasOptions {
  readonly registry: RegistryOptions;
  readonly knownIds: KnownIds;
  /** Before the topic in a subject's name: what stands before it in Kafka. */
  readonly subjectPrefix: string;
  readonly onProblem: (problem: string) => void;
  /** How long an outage of the registry is sat out. Default a minute. */
  readonly outageLimitMs?: number;
}

/**
 * Rejects when a schema can't be registered, an id has come to mean two things, or what is needed can't be reached for
 * too long.
 */
export async function openWireSchemas(
  options: WireSchemasOptions,
  vocabulary: Vocabulary = shipped,
): Promise<WireSchemas> {
  const { knownIds, subjectPrefix, onProblem, outageLimitMs = defaultOutageLimitMs } = options;
  const client = createRegistryClient(options.registry, onProblem);
  const subjectOf = (topic: Topic): string => `${subjectPrefix}${topic}-value`;

  const { versions, codecs } = vocabulary;
  const { known, writeIds } = await idsAtStart({ client, knownIds, versions, subjectOf, outageLimitMs, onProblem });
  const idsOf = new Map([...writeIds].map(([topic, id]) => [topic, new TopicIds(codecs[topic], id)]));
  const learnAll = (ids: readonly KnownId[]): void => {
    const bySubject = new Map([...idsOf].map(([topic, ids]) => [subjectOf(topic), ids]));
    for (const { subject, id, schema } of ids) bySubject.get(subject)?.learn(id, schema);
  };
  learnAll(known);

  /** Undefined where there is none, or the codec can't read what is written with it. */
  async function readableSchema(ids: TopicIds, id: number): Promise<string | undefined> {
    if (!isId(id)) return undefined;
    const schema = await retried(() => client.schemaOf(id), { limitMs: outageLimitMs, isFinal: isRefusal });
    return schema !== undefined && ids.canRead(schema) ? schema : undefined;
  }

  async function findOut(topic: Topic, ids: TopicIds, unknown: ReadonlySet<number>): Promise<void> {
    learnAll(await knownIds.read());
    const found: KnownId[] = [];
    for (const id of unknown) {
      if (ids.knows(id)) continue;
      const schema = await readableSchema(ids, id);
      if (schema === undefined) ids.learnForeign(id, Date.now());
      else found.push({ subject: subjectOf(topic), id, schema, givenAtMs: Date.now() });
    }
    if (found.length === 0) return;
    await knownIds.write(found);
    learnAll([...(await knownIds.read()), ...found]);
  }

  const toWire = (topic: Topic, frame: Buffer): void => idsOf.get(topic)?.toWire(frame);
  return {
    toWire(topic, frame) {
      if (topic === topics.deadLetters) restoreRecord(frame, toWire);
      toWire(topic, frame);
    },
    fromWire: (topic, frame) => idsOf.get(topic)!.fromWire(frame),
    async learn(topic, frames) {
      const ids = idsOf.get(topic)!;
      const unknown = ids.unknownIn(frames);
      if (unknown.size > 0) await findOut(topic, ids, unknown);
    },
  };
}
