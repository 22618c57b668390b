/**
 * Every id that the registry ever gave a schema of ours, kept in Redis: what an id in a frame means, whatever became of
 * the registry since.
 *
 * Two hashes. A field is named by subject and id; in the first it holds the schema and is never changed, in the second
 * the time of the last start that was given the id.
 */
import type { RedisConnection } from '../redis/connection.js';

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

/**
 * Under `schema-ids` behind the connection's prefix. Outages are sat out: nothing here does harm when it is done twice.
 */
export function createKnownIds(redis: RedisConnection): KnownIds {
  const { client } = redis;
  const schemas = `${redis.options.prefix}schema-ids`;
  const times = `${schemas}:given-at`;
  return {
    async read() {
      const [schemaOf, timeOf] = await redis.withRetries(() =>
        Promise.all([client.hgetall(schemas), client.hgetall(times)]),
      );
      return Object.entries(schemaOf).map(([field, schema]) => ({
        ...parse(field),
        schema,
        givenAtMs: Number(timeOf[field] ?? 0),
      }));
    },
    async write(ids) {
      await redis.withRetries(() =>
        Promise.all(
          ids.flatMap((known) => [
            client.hsetnx(schemas, fieldOf(known), known.schema),
            client.hset(times, fieldOf(known), known.givenAtMs),
          ]),
        ),
      );
    },
  };
}

const fieldOf = ({ subject, id }: KnownId): string => `${subject}/${id}`;

function parse(field: string): { subject: string; id: number } {
  const slash = field.lastIndexOf('/');
  return { subject: field.slice(0, slash), id: Number(field.slice(slash + 1)) };
}
