/** Refuses a Redis that evicts keys when it is full: it would lose device states and positions. */
import { mastersOf } from './client.js';
import type { RedisConnection } from './connection.js';

/** Rejects when a server has a memory limit and another policy than `noeviction`. */
export async function refuseEviction({ client, withRetries }: RedisConnection): Promise<void> {
  for (const server of mastersOf(client)) {
    const memory = await withRetries(() => server.info('memory'));
    const [, limit] = /^maxmemory:(\d+)/m.exec(memory) ?? [];
    const [, policy] = /^maxmemory_policy:(\S+)/m.exec(memory) ?? [];
    if (limit === '0' || policy === undefined || policy === 'noeviction') continue;
    throw new Error(`Redis has maxmemory-policy ${policy} and would lose states when it is full: set it to noeviction`);
  }
}
