/** Locks of requests with an Idempotency-Key, in virtual time. `api/idempotency.test.ts` tests the rest. */
import { createHash, randomBytes } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createSecretCipher, encryptionKeyBytes } from '../../pipeline/encryption.js';
import { useVirtualValues } from '../../pipeline/testing/virtual-values.js';
import { createTestServer } from '../testing/server.js';

const values = useVirtualValues();
const { pass } = values;
const minuteMs = 60_000;
const adminApiKey = 'admin-key';
const newCipher = () => createSecretCipher(randomBytes(encryptionKeyBytes));

/** A server whose route answers when the test lets it, with the number of the call. */
function startServer(secretCipher = newCipher()) {
  const app = createTestServer({
    adminApiKeySha256: createHash('sha256').update(adminApiKey).digest('hex'),
    idempotency: { values, answers: values, secretCipher },
  });
  onTestFinished(() => app.close());
  let calls = 0;
  let begun: (answer: (status: number) => void) => void;
  app.post('/', { config: { authority: 'admin', limit: 'management' } }, async (_request, reply) => {
    calls += 1;
    const call = calls;
    const status = await new Promise<number>((resolve) => begun(resolve));
    return reply.code(status).send({ call });
  });
  const post = async (): Promise<readonly [status: number, body: { call?: number; meta?: { type: string } }]> => {
    const headers = { authorization: adminApiKey, 'idempotency-key': 'key' };
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/', payload: {}, headers });
    return [statusCode, JSON.parse(body)];
  };
  return {
    post,
    /** Sends a request, and resolves with how to answer it when it runs. */
    async begin() {
      const running = new Promise<(status: number) => void>((resolve) => {
        begun = resolve;
      });
      const answered = post();
      const answer = await running;
      return (status: number) => {
        answer(status);
        return answered;
      };
    },
    calls: () => calls,
  };
}

const inProgress = [409, { meta: { type: 'request_in_progress' } }];

// The lock ended after two minutes. A redelivery of many events takes longer, and then ran again beside the first.
test('regression: a key is locked for as long as its request runs', async () => {
  const server = startServer();
  const answer = await server.begin();
  for (let minute = 0; minute < 10; minute++) {
    expect(await server.post()).toMatchObject(inProgress);
    await pass(minuteMs);
  }
  expect(await answer(200)).toEqual([200, { call: 1 }]);
  await pass(10 * minuteMs);
  expect(await server.post()).toEqual([200, { call: 1 }]);
  expect(server.calls()).toBe(1);
});

test('a failure frees the key, however long it took', async () => {
  const server = startServer();
  const first = await server.begin();
  await pass(5 * minuteMs);
  expect(await first(500)).toEqual([500, { call: 1 }]);
  const second = await server.begin();
  expect(await second(200)).toEqual([200, { call: 2 }]);
});

test('a key whose answer could not be kept is free after two minutes', async () => {
  const server = startServer();
  const first = await server.begin();
  await pass(5 * minuteMs);
  vi.spyOn(values, 'increment').mockRejectedValueOnce(new Error('the store is out of reach'));
  expect(await first(200)).toEqual([200, { call: 1 }]);
  expect(await server.post()).toMatchObject(inProgress);
  await pass(2 * minuteMs);
  const second = await server.begin();
  expect(await second(200)).toEqual([200, { call: 2 }]);
});

// After the loss of the encryption key a repeated request was answered 500.
test('an answer that was encrypted with another key counts as not kept', async () => {
  const answer = await startServer().begin();
  expect(await answer(200)).toEqual([200, { call: 1 }]);
  expect(await startServer().post()).toMatchObject([409, { meta: { type: 'conflict' } }]);
});
