/**
 * Every id that the registry ever gave a schema of ours, kept in Redis: what an id in a frame means, whatever became of the registry since.
 *
 * Two hashes. A field is named by subject and id; in the first it holds the schema and is never changed, in the second the time of the last start that was
 * given the id.
 */
import type { Cluster, Redis } from 'ioredis';

export interface KnownId {
  readonly subject: string;
  readonly id: number;
  readonly schema: string;
  /** Epoch ms. */
  readonly givenAtMs: number;
}

export interface KnownIds {
  read(): Promise<readonly KnownId[]>;
  /** Adds those that are new. An id that the subject has already keeps its schema, and only its time changes. */
  write(ids: readonly KnownId[]): Promise<void>;
}

/** Time limits are the connection's. */
export function createKnownIds(redis: Redis | Cluster, prefix: string): KnownIds {
  const schemas = `${prefix}schema-ids`;
  const times = `${prefix}schema-ids:given-at`;
  return {
    async read() {
      const [schemaOf, timeOf] = await orExplained(Promise.all([redis.hgetall(schemas), redis.hgetall(times)]));
      return Object.entries(schemaOf).map(([field, schema]) => ({
        ...parse(field),
        schema,
        givenAtMs: Number(timeOf[field] ?? 0),
      }));
    },
    async write(ids) {
      const writes = ids.flatMap((known) => [
        redis.hsetnx(schemas, fieldOf(known), known.schema),
        redis.hset(times, fieldOf(known), known.givenAtMs),
      ]);
      await orExplained(Promise.all(writes));
    },
  };
}

const orExplained = <T>(answer: Promise<T>): Promise<T> =>
  answer.catch((error: Error) => {
    throw new Error(`the ids of schemas in Redis can't be had: ${error.message}`, { cause: error });
  });

const fieldOf = ({ subject, id }: KnownId): string => `${subject}/${id}`;

function parse(field: string): { subject: string; id: number } {
  const slash = field.lastIndexOf('/');
  return { subject: field.slice(0, slash), id: Number(field.slice(slash + 1)) };
}
