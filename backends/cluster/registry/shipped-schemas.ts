/**
 * Every shipped version of every topic's schema, from `schemas/avro/versions/`, and the codec of each topic. The texts
 * are the same at every start.
 */
import { readFileSync } from 'node:fs';
import { type Topic, topics } from '../../../pipeline/ports.js';
import { type Codec, codecs } from '../../../schemas/codecs.js';

/** A version of a topic's schema that a release has written, or the newest one. */
export interface Version {
  readonly topic: Topic;
  /** Name of its file, such as `event.v1`. */
  readonly name: string;
  /** The schema as JSON, with all named types. */
  readonly schema: string;
}

/** The schemas that a process reads and writes. */
export interface SchemaSet {
  readonly codecs: Readonly<Record<Topic, Codec<unknown>>>;
  /** In the order of registration, older versions of a topic before newer ones. */
  readonly versions: readonly Version[];
}

const topicOf = {
  location: topics.locations,
  outcome: topics.outcomes,
  event: topics.events,
  change: topics.changes,
  'dead-letter': topics.deadLetters,
  delivery: topics.deliveries,
  attempt: topics.attempts,
  rejection: topics.rejections,
} as const;
type RecordName = keyof typeof topicOf;

/**
 * Add new versions at the end and never reorder them. A registry of our own that lost its data then assigns the same
 * ids again. With the order of the first eight, no version gets the internal id of its topic (8 for rejections, 1 for
 * locations), so the two kinds of ids can't be confused.
 */
const shippedInOrder: readonly `${RecordName}.v${number}`[] = [
  'rejection.v1',
  'attempt.v1',
  'delivery.v1',
  'dead-letter.v1',
  'change.v1',
  'event.v1',
  'outcome.v1',
  'location.v1',
  'change.v2',
  'change.v3',
  'event.v2',
];

/** The schemas that this release registers at its start. */
export const shippedSchemas: SchemaSet = {
  codecs: {
    [topics.locations]: codecs.location,
    [topics.outcomes]: codecs.outcome,
    [topics.events]: codecs.event,
    [topics.changes]: codecs.change,
    [topics.deadLetters]: codecs.deadLetter,
    [topics.deliveries]: codecs.delivery,
    [topics.attempts]: codecs.attempt,
    [topics.rejections]: codecs.rejection,
  },
  versions: shippedInOrder.map((name) => ({
    topic: topicOf[name.split('.')[0] as RecordName],
    name,
    schema: readVersion(name),
  })),
};

/** Returns the schema without white space, so that the file's formatting may change. */
function readVersion(name: string): string {
  return JSON.stringify(
    JSON.parse(readFileSync(new URL(`../../../schemas/avro/versions/${name}.avsc`, import.meta.url), 'utf8')),
  );
}
