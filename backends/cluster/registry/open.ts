/**
 * Opens the {@link WireSchemas}: resolves schema ids by Redis and by the registry.
 *
 * For an id that both know, Redis counts, because a registry that lost its data may assign ids again. Ids that only the
 * registry knows are added to Redis.
 */
import { type Topic, topics } from '../../../pipeline/ports.js';
import { outageLimitMs as defaultOutageLimitMs, retried } from '../../../pipeline/retrying.js';
import type { RegistryOptions } from '../options.js';
import type { Patience } from '../patience.js';
import { createRegistryClient, isId, isRefusal } from './client.js';
import { restoreRecord } from './dead-letters.js';
import type { KnownId, KnownIds } from './known-ids.js';
import { idsAtStart } from './registration.js';
import { type SchemaSet, shippedSchemas } from './shipped-schemas.js';
import { TopicIds } from './topic-ids.js';
import type { WireSchemas } from './wire-schemas.js';

interface WireSchemasOptions {
  readonly registry: RegistryOptions;
  readonly knownIds: KnownIds;
  /** Prefix of subjects: the prefix of topics in Kafka. */
  readonly subjectPrefix: string;
  readonly onProblem: (problem: string) => void;
  readonly patience: Patience;
  /** How long requests are retried during an outage of the registry, if nothing waits for its end. Default a minute. */
  readonly outageLimitMs?: number;
  /** Ends the wait of a start. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits for the registry for as long as it takes, if Redis lacks an id. Rejects when a schema can't be registered, an
 * id has two meanings, or Redis is out of reach for too long.
 */
export async function openWireSchemas(
  options: WireSchemasOptions,
  schemas: SchemaSet = shippedSchemas,
): Promise<WireSchemas> {
  const { knownIds, subjectPrefix, onProblem, patience, outageLimitMs = defaultOutageLimitMs, signal } = options;
  const client = createRegistryClient(options.registry, onProblem);
  const subjectOf = (topic: Topic): string => `${subjectPrefix}${topic}-value`;

  const { versions, codecs } = schemas;
  const registration = { client, knownIds, versions, subjectOf, outageLimitMs, onProblem, signal };
  const { known, writeIds } = await idsAtStart(registration);
  const idsOf = new Map([...writeIds].map(([topic, id]) => [topic, new TopicIds(codecs[topic], id)]));
  const learnAll = (ids: readonly KnownId[]): void => {
    const bySubject = new Map([...idsOf].map(([topic, ids]) => [subjectOf(topic), ids]));
    for (const { subject, id, schema } of ids) bySubject.get(subject)?.learn(id, schema);
  };
  learnAll(known);

  /** Returns the schema, or undefined if there is none or the codec can't read its records. */
  async function readableSchema(ids: TopicIds, id: number, waits: () => boolean): Promise<string | undefined> {
    if (!isId(id)) return undefined;
    const isForAll = (error: unknown): boolean => {
      if (!waits()) return false;
      patience.refused('registry', `${(error as Error).message}; records with the unknown schema id ${id} wait`);
      return true;
    };
    const schema = await retried(() => client.schemaOf(id), { limitMs: outageLimitMs, isFinal: isRefusal, isForAll });
    return schema !== undefined && ids.canRead(schema) ? schema : undefined;
  }

  async function resolve(
    topic: Topic,
    ids: TopicIds,
    unknown: ReadonlySet<number>,
    waits: () => boolean,
  ): Promise<void> {
    learnAll(await knownIds.read());
    const found: KnownId[] = [];
    for (const id of unknown) {
      if (ids.knows(id)) continue;
      const schema = await readableSchema(ids, id, waits);
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
    async learn(topic, frames, waits = () => false) {
      const ids = idsOf.get(topic)!;
      const unknown = ids.unknownIn(frames);
      if (unknown.size > 0) await resolve(topic, ids, unknown, waits);
    },
  };
}
