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
  const deadlineMs = Date.now() + timeoutMs;
  let listed = await listEventIds(client);
  while (!isSuperset(listed, expectedIds) && Date.now() < deadlineMs) {
    await delay(pollEveryMs);
    listed = await listEventIds(client);
  }
  const metrics = parseMetrics((await client.call('GET', '/metrics')).body);
  return {
    applied: evaluated(metrics, 'applied'),
    repeat: evaluated(metrics, 'repeat'),
    stale: evaluated(metrics, 'stale'),
    events: listed.size,
    missing: countOutside(expectedIds, listed),
    unexpected: countOutside(listed, expectedIds),
  };
}

/** Returns the ids of all pages, newest first. */
async function listEventIds(client: ApiClient): Promise<Set<string>> {
  const ids = new Set<string>();
  let cursor = '';
  for (;;) {
    const { status, body } = await client.call('GET', `/v1/events?limit=${pageSize}${cursor}`);
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
