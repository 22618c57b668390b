/** A request with an Idempotency-Key whose node is killed before it answers. */
import { expect, it, onTestFinished } from 'vitest';
import { Receiver } from '../../testing/receiver.js';
import { until } from '../../testing/until.js';
import { ok } from '../support/client.js';
import { TestServer } from '../support/server.js';

// For two minutes the answer was that the first request still runs, although its process had ended.
it('runs again after the next start', async () => {
  const server = await TestServer.start({ FENCELINE_WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.0/8' });
  onTestFinished(() => server.dispose());
  const receiver = await Receiver.start();
  onTestFinished(() => receiver.close());
  receiver.answering = () => {};
  const client = server.as('test_secret');
  const { webhook } = ok(await client.post('/v1/webhooks', { url: receiver.url() }));
  const test = () =>
    client.send('POST', `/v1/webhooks/${webhook._id}/test`, { body: {}, headers: { 'idempotency-key': 'once' } });

  const first = test().catch(() => 'unanswered');
  await until(() => receiver.requests.length === 1);
  expect((await test()).body.meta.type).toBe('request_in_progress');
  await server.kill();
  expect(await first).toBe('unanswered');
  receiver.answering = (_, response) => void response.writeHead(200).end();
  await server.restart();
  expect((await test()).status).toBe(200);
  expect((await test()).headers.get('idempotency-replayed')).toBe('true');
  expect(receiver.requests).toHaveLength(2);
});
