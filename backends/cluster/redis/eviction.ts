/** Refuses a Redis that evicts keys when it is full: it would lose device states and positions. */
import { mastersOf } from './client.js';
import type { RedisConnection } from './connection.js';

/** Rejects when a server has a memory limit and another policy than `noeviction`. */
export async function refuseEviction({ client, withRetries }: RedisConnection): Promise<void> {
  for (const server of mastersOf(client)) {
    const problem = evictionProblem(await withRetries(() => server.info('memory')));
    if (problem !== undefined) throw new Error(`Redis has ${problem}: set it to noeviction`);
  }
}

/** Returns what the server would lose by its policy, from its `INFO`; undefined if it loses nothing. */
export function evictionProblem(info: string): string | undefined {
  const [, limit] = /^maxmemory:(\d+)/m.exec(info) ?? [];
  const [, policy] = /^maxmemory_policy:(\S+)/m.exec(info) ?? [];
  if (limit === '0' || policy === undefined || policy === 'noeviction') return undefined;
  return `maxmemory-policy ${policy} and would lose states when it is full`;
}
