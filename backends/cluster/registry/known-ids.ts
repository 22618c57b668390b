/**
 * Every id that the registry ever assigned to one of our schemas, stored in Redis. So an id keeps its meaning even if
 * the registry loses its data.
 *
 * There are two hashes with a field per subject and id. The first has the schema, which never changes. The second has
 * the time of the last start at which the registry returned the id.
 */
import type { RedisConnection } from '../redis/connection.js';

/** An id that the registry has given to a schema of a subject. */
export interface KnownId {
  readonly subject: string;
  readonly id: number;
  readonly schema: string;
  /** Epoch ms. */
  readonly givenAtMs: number;
}

/** Ids that this installation remembers, so that it starts and reads while the registry is out of reach. */
export interface KnownIds {
  read(): Promise<readonly KnownId[]>;
  /** Adds new ids. An id that the subject already has keeps its schema, and only its time changes. */
  write(ids: readonly KnownId[]): Promise<void>;
}

/** Keys begin with `schema-ids` after the connection's prefix. Repeating any of these commands is safe. */
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
