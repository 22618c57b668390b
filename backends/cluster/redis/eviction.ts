/**
 * A Redis that throws keys away when it is full is refused: what it would throw away is where a device is, or how far a
 * partition has come.
 */
import { mastersOf } from './client.js';
import type { RedisConnection } from './connection.js';

/** Rejects, saying what to set, when a server has a limit of memory and another policy than `noeviction`. */
export async function refuseEviction({ client, withRetries }: RedisConnection): Promise<void> {
  for (const server of mastersOf(client)) {
    const memory = await withRetries(() => server.info('memory'));
    const [, limit] = /^maxmemory:(\d+)/m.exec(memory) ?? [];
    const [, policy] = /^maxmemory_policy:(\S+)/m.exec(memory) ?? [];
    if (limit === '0' || policy === undefined || policy === 'noeviction') continue;
    throw new Error(`Redis has maxmemory-policy ${policy} and would lose states when it is full: set it to noeviction`);
  }
}
