/**
 * One trace leads from a track request to the webhook, through the log and all processes, as seen by a collector and a
 * receiver.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Receiver } from '../../testing/receiver.js';
import { until } from '../../testing/until.js';
import { type Json, ok } from '../support/client.js';
import { circle, standing } from '../support/places.js';
import { TestServer } from '../support/server.js';

let server: TestServer;
let collector: Receiver;
let receiver: Receiver;
beforeAll(async () => {
  [collector, receiver] = await Promise.all([Receiver.start(), Receiver.start()]);
  server = await TestServer.start({
    FENCELINE_TRACING_ENDPOINT: collector.url('/v1/traces'),
    FENCELINE_WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.0/8',
  });
});
afterAll(async () => {
  await server?.dispose();
  await receiver?.close();
  await collector?.close();
});

/** Returns all spans that the collector has, with the role of the thread or node that sent them. */
const spans = (): Json[] =>
  collector.at('/v1/traces').flatMap(({ body }) =>
    JSON.parse(`${body}`).resourceSpans.flatMap(({ resource, scopeSpans }: Json) => {
      const { value } = resource.attributes.find(({ key }: Json) => key === 'fenceline.role');
      return scopeSpans.flatMap((scope: Json) =>
        scope.spans.map((span: Json) => ({ ...span, role: value.stringValue })),
      );
    }),
  );

const callerId = 'b7ad6b7169203331';

/** Tracks a device inside of the gate as a part of a trace. */
async function enter(deviceId: string, traceId: string): Promise<void> {
  const response = await fetch(`${server.address}/v1/track`, {
    method: 'POST',
    headers: {
      authorization: server.keys.test_publishable,
      'content-type': 'application/json',
      traceparent: `00-${traceId}-${callerId}-01`,
    },
    body: JSON.stringify({ deviceId, ...standing(0, 0), accuracy: 5 }),
  });
  expect(response.status).toBe(200);
}

it('leads from the request over append and evaluation to the webhook, which gets its context', async () => {
  const backend = server.as('test_secret');
  await backend.putGeofence('gate', circle(0, 0, 100));
  ok(await backend.post('/v1/webhooks', { url: receiver.url('/hook') }));
  const traceIds = Array.from({ length: server.cluster ? 32 : 1 }, () => randomBytes(16).toString('hex'));
  for (const [index, traceId] of traceIds.entries()) await enter(`ship-${index}`, traceId);

  // In a cluster the second node evaluates about half of the devices. Their traces lead through Kafka to that process.
  const isElsewhere = ({ name, role }: Json) =>
    name === 'evaluate location' && !(server.cluster && /ingest/.test(role));
  const { traceId } = await until(() => spans().find(isElsewhere));
  const named = (name: string): Json | undefined =>
    spans().find((span) => span.name === name && span.traceId === traceId);
  await until(() => named('deliver to webhook') && named('POST /v1/track'));

  const [track, append, evaluate, deliver] = [
    'POST /v1/track',
    'append locations',
    'evaluate location',
    'deliver to webhook',
  ].map((name) => named(name) as Json);
  const chain = [track, append, evaluate, deliver];
  expect(chain.map(({ parentSpanId }) => parentSpanId)).toEqual([
    callerId,
    track.spanId,
    append.spanId,
    evaluate.spanId,
  ]);
  // Threads of an embedded server, and nodes of a cluster with several roles each.
  for (const [index, role] of [/main|ingest/, /main|ingest/, /pipeline/, /webhooks/].entries())
    expect(chain[index].role).toMatch(role);
  const context = `00-${traceId}-${deliver.spanId}-01`;
  await until(() => receiver.at('/hook').some(({ headers }) => headers.traceparent === context));

  // The batch is another trace, because it may have locations of many requests: links join them.
  const [{ traceId: batchTrace, spanId: batchId }] = evaluate.links;
  expect(batchTrace).not.toBe(traceId);
  const inBatch = (name: string) => spans().find((span) => span.name === name && span.traceId === batchTrace);
  const batch = await until(() => inBatch('evaluate batch'));
  expect(batch.spanId).toBe(batchId);
  expect(batch.links).toContainEqual(expect.objectContaining({ traceId, spanId: append.spanId }));
  expect(inBatch('commit batch')?.parentSpanId).toBe(batchId);
});
