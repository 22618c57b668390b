import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { hourMs } from '../../schemas/durations.js';
import { acknowledging, Receiver } from '../../testing/receiver.js';
import { until } from '../../testing/until.js';
import { startSdk } from './sdk.js';
import type { NodeTracing } from './types.js';

const incoming = '00-0af7651916cd43dd8448eb21ffffffff-b7ad6b7169203331-01';
let collector: Receiver;
beforeAll(async () => {
  // Nothing is sent by time, so what comes was sent by the end of its tracing.
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', `${hourMs}`);
  collector = await Receiver.start();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await collector.close();
});
const started: NodeTracing[] = [];
const tracingOf = (samplePercent: number): NodeTracing => {
  const parts = { endpoint: collector.url('/v1/traces'), authorization: 'Bearer secret', role: 'test', onProblem() {} };
  const tracing = startSdk({ ...parts, samplePercent });
  started.push(tracing);
  return tracing;
};
afterEach(() => Promise.all(started.splice(0).map((tracing) => tracing.close())));

test('a request continues the trace that it names, with a span of its own', () => {
  const span = tracingOf(100).request('GET /', { kind: 'server', parent: incoming })!;
  const [, trace, id] = span.traceparent.split('-');
  expect(trace).toBe('0af7651916cd43dd8448eb21ffffffff');
  expect(id).not.toBe('b7ad6b7169203331');
  span.end();
});

test.each(['', 'nonsense', incoming.replace('0af7651916cd43dd8448eb21ffffffff', '0'.repeat(32))])(
  'a request that names the malformed trace "%s" begins one',
  (parent) => {
    const span = tracingOf(100).request('GET /', { kind: 'server', parent })!;
    expect(span.traceparent).toMatch(/^00-(?!0{32})[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    span.end();
  },
);

test('our percentage decides which requests are recorded, also of those that ask for it', () => {
  const low = incoming.replace('ffffffff', '00000000');
  for (const [percent, expected] of [
    [0, []],
    [50, [low]],
    [100, [low, incoming]],
  ] as const) {
    const tracing = tracingOf(percent);
    const recorded = [low, incoming].filter((parent) => {
      const span = tracing.request('GET /', { kind: 'server', parent });
      span?.end();
      return span !== undefined;
    });
    expect(recorded).toEqual(expected);
  }
});

test('spans are sent when tracing closes, with the login, and with what has failed', async () => {
  const tracing = tracingOf(100);
  const parent = tracing.start('parent', { kind: 'consumer', attributes: { count: 2 } });
  tracing.start('child', { kind: 'client', parent: parent.traceparent }).end(undefined, 'refused');
  parent.end();
  await tracing.close();
  // On a busy machine spans of earlier tests come late, and these after the end of the wait.
  const request = await until(() => collector.requests.find(({ body }) => body.includes('"child"')));
  expect(request.headers.authorization).toBe('Bearer secret');
  const [{ resource, scopeSpans }] = JSON.parse(`${request.body}`).resourceSpans;
  expect(JSON.stringify(resource)).toContain('"fenceline.role"');
  const [child, sent] = scopeSpans[0].spans;
  expect(child).toMatchObject({ name: 'child', traceId: sent.traceId, parentSpanId: sent.spanId });
  expect(child.status).toEqual({ code: 2, message: 'refused' });
  expect(sent.attributes).toEqual([{ key: 'count', value: { intValue: 2 } }]);
});

test('closing does not wait for a collector that never answers', async () => {
  let held: ServerResponse | undefined;
  collector.answering = (request, response) => {
    if (request.path === '/v1/traces') held = response;
    else acknowledging(request, response);
  };
  onTestFinished(() => {
    collector.answering = acknowledging;
    held?.end();
  });
  const tracing = tracingOf(100);
  tracing.start('lost', { kind: 'internal' }).end();
  await tracing.close();
  await until(() => held !== undefined);
  // Whoever waits for the request waits until the exporter ends it. The collector has seen that by its next answer.
  await fetch(collector.url());
  expect(held?.destroyed).toBe(false);
});
