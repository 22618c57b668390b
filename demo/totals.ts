/** Reads the server's counts of a demo run: its metrics, and the events that the API lists. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from './api-client.js';
import { evaluated, parseMetrics } from './metrics.js';
import type { ServerTotals } from './report.js';

const pageSize = 1_000;
const timeoutMs = 20_000;
const pollEveryMs = 250;

/**
 * Waits until the API lists all of `expectedIds`, or a time limit passes, because events become queryable with a delay.
 */
export async function readTotals(client: ApiClient, expectedIds: ReadonlySet<string>): Promise<ServerTotals> {
  const history = await readHistory(client, expectedIds);
  const metrics = parseMetrics((await client.call('GET', '/metrics')).body);
  return {
    applied: evaluated(metrics, 'applied'),
    repeat: evaluated(metrics, 'repeat'),
    stale: evaluated(metrics, 'stale'),
    history,
  };
}

async function readHistory(client: ApiClient, expectedIds: ReadonlySet<string>): Promise<ServerTotals['history']> {
  const deadlineMs = Date.now() + timeoutMs;
  let listed = await listEventIds(client);
  while (listed instanceof Set && !isSuperset(listed, expectedIds) && Date.now() < deadlineMs) {
    await delay(pollEveryMs);
    listed = await listEventIds(client);
  }
  if (!(listed instanceof Set)) return listed;
  return {
    count: listed.size,
    missing: countOutside(expectedIds, listed),
    unexpected: countOutside(listed, expectedIds),
  };
}

/** Returns the ids of all pages, newest first, or the reason why the server lists none. */
async function listEventIds(client: ApiClient): Promise<Set<string> | { readonly reason: string }> {
  const ids = new Set<string>();
  let cursor = '';
  for (;;) {
    const { status, body } = await client.call('GET', `/v1/events?limit=${pageSize}${cursor}`);
    if (body?.meta?.type === 'not_available') return { reason: body.meta.message };
    if (status !== 200) throw new Error(`GET /v1/events: ${status} ${JSON.stringify(body?.meta)}`);
    for (const event of body.events) ids.add(event._id);
    if (!body.meta.hasMore) return ids;
    cursor = `&cursor=${body.meta.cursor}`;
  }
}

const isSuperset = (all: ReadonlySet<string>, some: ReadonlySet<string>): boolean => countOutside(some, all) === 0;

/** Counts the items of `some` that are not in `all`. */
const countOutside = (some: ReadonlySet<string>, all: ReadonlySet<string>): number =>
  [...some].filter((item) => !all.has(item)).length;
