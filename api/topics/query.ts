/** Reads the parameters of a read of topic `events`: position, limit and waiting time. */
import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { readLimit } from '../lists.js';
import { parsePosition } from '../stream/position.js';

/** Where to start in a partition: an offset, or one of its ends. */
export type Start = number | 'earliest' | 'latest';

/** One read of a topic: from where, how much, and how long to wait for it. */
export interface TopicQuery {
  /** Null: all. */
  readonly partition: number | null;
  /** Start of each partition of the topic. */
  readonly from: readonly Start[];
  readonly limit: number;
  readonly waitMs: number;
}

/** Longest time that a read may wait for a record. */
export const maxWaitMs = 30_000;
const maxFromLength = 16_384;
const fromRule = 'must be an offset, earliest, latest, or, for all partitions, the `next` of the previous response';

/** Parses `from`; undefined if it breaks {@link fromRule}. */
function parseFrom(text: string, partition: number | null, partitions: number): readonly Start[] | undefined {
  const every = (start: Start): Start[] => new Array<Start>(partitions).fill(start);
  if (text === 'earliest' || text === 'latest') return every(text);
  if (/^\d{1,15}$/.test(text)) return every(Number(text));
  return partition === null ? parsePosition(text, partitions) : undefined;
}

/** Reads `partition`, `from`, `limit` and `waitMs`. `partitions` is the number that the topic has. */
export function readTopicQuery(query: RawFields, partitions: number): Outcome<TopicQuery> {
  const reader = new FieldReader(query);
  const partition = reader.integer('partition', { minimum: 0, maximum: partitions - 1 });
  const from =
    parseFrom(reader.text('from', maxFromLength) ?? 'earliest', partition, partitions) ??
    reader.refuse('from', fromRule);
  const limit = readLimit(reader);
  const waitMs = reader.integer('waitMs', { minimum: 0, maximum: maxWaitMs }) ?? 0;
  return reader.outcome(() => ({ partition, from: from ?? [], limit, waitMs }));
}
