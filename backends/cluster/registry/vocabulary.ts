/**
 * Every version of every topic's schema that ever shipped, and the codec that each topic is read and written with.
 *
 * Flows in: `schemas/avro/versions/`, where each is whole in itself. Flows out: texts that are the same on every start.
 */
import { readFileSync } from 'node:fs';
import { type Topic, topics } from '../../../pipeline/ports.js';
import { type Codec, codecs } from '../../../schemas/codecs.js';

export interface Version {
  readonly topic: Topic;
  /** As its file, such as `event.v1`. */
  readonly name: string;
  /** Its schema: JSON, every named type defined within. */
  readonly schema: string;
}

export interface Vocabulary {
  readonly codecs: Readonly<Record<Topic, Codec<unknown>>>;
  /** In the order in which they are registered, older ones of a topic before newer. */
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
 * A new version goes to the end, and nothing ever moves: so a registry of our own that lost its data gives every
 * version the id it had. The first eight stand in this order so that there no version has the fixed id of its topic
 * (rejections have 8, locations 1): an id then never looks like the other kind.
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
];

export const shipped: Vocabulary = {
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

/** Without the white space of the file, so that its formatting may change. */
function readVersion(name: string): string {
  return JSON.stringify(
    JSON.parse(readFileSync(new URL(`../../../schemas/avro/versions/${name}.avsc`, import.meta.url), 'utf8')),
  );
}
