import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { openEmbedded } from '../../backends/embedded/embedded.js';
import { deliverySources } from '../../pipeline/ports.js';
import { codecs } from '../../schemas/codecs.js';
import { deriveId } from '../../schemas/ids.js';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { useApi, webhookParts } from '../testing/fixtures.js';
import { deliveryRecord } from './testing/fixtures.js';
import { readWaitingQuery } from './waiting.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-waiting-'));
const embedded = openEmbedded({ path: folder, partitions: 3, mapBytes: 2 ** 30 });
afterAll(async () => {
  await embedded.close();
  rmSync(folder, { recursive: true, force: true });
});

const api = await useApi({ webhooks: webhookParts({ waiting: embedded.deliveryQueue.waiting, maxWebhooks: 1_000 }) });

const sources = deliverySources(embedded.log);
const noonMs = Date.UTC(2026, 0, 1, 12);

async function newWebhook(): Promise<string> {
  const { body } = await api.call('POST', '/v1/webhooks', { body: { url: 'https://example.com/' } });
  return body.webhook._id as string;
}

/** Queues deliveries of the webhook. `source` is an index; times are minutes after noon. */
async function queue(webhook: string, waiting: readonly { source: number; minute: number }[]): Promise<void> {
  for (const [number, source] of sources.entries()) {
    const claim = await embedded.deliveryQueue.claim(source);
    const deliveries = waiting.flatMap(({ source, minute }, index) => {
      if (source !== number) return [];
      const id = deriveId(webhook, `${index}`);
      const delivery = deliveryRecord({ id, webhook, project: api.project.record._id });
      return [{ webhook, dueAtMs: noonMs + 60_000 * minute, value: codecs.delivery.encode(delivery) }];
    });
    const { nextOffset } = claim;
    await embedded.deliveryQueue.add(claim, { expectedOffset: nextOffset, nextOffset: nextOffset + 1, deliveries });
  }
}

const anyWaiting = fc.array(fc.record({ source: fc.nat(5), minute: fc.nat(3) }), { maxLength: 40 });

test('pages show each waiting delivery once, the next due first, whatever queue it waits in', async () => {
  await fc.assert(
    fc.asyncProperty(anyWaiting, fc.integer({ min: 1, max: 9 }), async (waiting, limit) => {
      const webhook = await newWebhook();
      await queue(webhook, waiting);
      const seen: { _id: string; nextAttemptAt: string }[] = [];
      let cursor: string | undefined;
      do {
        const query = new URLSearchParams({ limit: `${limit}`, ...(cursor && { cursor }) });
        const { body } = await api.call('GET', `/v1/webhooks/${webhook}/deliveries?${query}`);
        expect(body.deliveries.length).toBeLessThanOrEqual(limit);
        seen.push(...body.deliveries);
        cursor = body.meta.cursor;
        expect(body.meta.hasMore).toBe(cursor !== undefined);
      } while (cursor !== undefined);
      const expected = waiting.map(({ minute }, index) => ({ id: deriveId(webhook, `${index}`), minute }));
      expect(seen.map(({ _id }) => _id).sort()).toEqual(expected.map(({ id }) => id).sort());
      const times = seen.map(({ nextAttemptAt }) => Date.parse(nextAttemptAt));
      expect(times).toEqual(waiting.map(({ minute }) => noonMs + 60_000 * minute).sort((a, b) => a - b));
    }),
    { numRuns: propertyRuns(60) },
  );
});

// A thousand bodies of 450 kB were read at once, so forty such lists stopped all other requests for seconds.
test('a list reads a few deliveries with their bodies in each turn', async () => {
  const webhook = await newWebhook();
  await queue(
    webhook,
    Array.from({ length: 200 }, () => ({ source: 1, minute: 1 })),
  );
  let isAnswered = false;
  const lists = Array.from({ length: 4 }, () => api.call('GET', `/v1/webhooks/${webhook}/deliveries?limit=150`));
  const answered = Promise.all(lists).finally(() => {
    isAnswered = true;
  });
  let turns = 0;
  for (; !isAnswered; turns++) await setImmediate();
  for (const { body } of await answered) expect(body.deliveries).toHaveLength(150);
  expect(turns).toBeGreaterThanOrEqual(4 * Math.floor(151 / 16));
});

test('a waiting delivery shows its events, its reason and its attempts, and no body', async () => {
  const webhook = await newWebhook();
  const [source] = sources;
  const claim = await embedded.deliveryQueue.claim(source!);
  const delivery = deliveryRecord({ webhook, project: api.project.record._id, createdAt: noonMs });
  const { nextOffset } = claim;
  await embedded.deliveryQueue.add(claim, {
    expectedOffset: nextOffset,
    nextOffset: nextOffset + 1,
    deliveries: [{ webhook, dueAtMs: noonMs, value: codecs.delivery.encode(delivery) }],
  });
  const [place] = await embedded.deliveryQueue.waiting(source!, webhook, 1);
  await embedded.deliveryQueue.settle(claim, [{ place: place!, next: { dueAtMs: noonMs + 5_000, attempts: 1 } }]);
  const { body } = await api.call('GET', `/v1/webhooks/${webhook}/deliveries`);
  expect(body.deliveries).toEqual([
    {
      _id: delivery.id,
      events: delivery.events,
      reason: 'event',
      createdAt: '2026-01-01T12:00:00.000Z',
      attempts: 1,
      nextAttemptAt: '2026-01-01T12:00:05.000Z',
    },
  ]);
});

test('a webhook of another project is not found', async () => {
  const other = await api.newProject('Other');
  const webhook = await newWebhook();
  const answer = await api.call('GET', `/v1/webhooks/${webhook}/deliveries`, { key: other.key('test', 'secret') });
  expect(answer.status).toBe(404);
});

test('a made-up cursor is refused', () => {
  const asText = (text: string): string => Buffer.from(text).toString('base64url');
  for (const cursor of ['', 'x', asText('1.2'), asText('1.2.3.4'), asText('-1.0.0'), asText('1e3.0.0')]) {
    const outcome = readWaitingQuery({ cursor: cursor || '.' });
    expect(outcome).toMatchObject({ ok: false, error: { message: expect.stringContaining('cursor') } });
  }
  expect(readWaitingQuery({})).toMatchObject({ ok: true, value: { limit: 100, cursor: null } });
});
