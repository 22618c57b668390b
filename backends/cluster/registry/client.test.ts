/**
 * Missing and invalid answers of a registry: each is reported as an outage or a refusal, always within the time limit.
 */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createRegistryClient, isRefusal, type RegistryClient } from './client.js';

const subject = 'events-value';
const problems: string[] = [];

interface Settings {
  readonly path?: string;
  readonly requestTimeoutMs?: number;
}

async function clientOf(answer: RequestListener, { path = '/', ...limits }: Settings = {}): Promise<RegistryClient> {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    problems.length = 0;
  });
  const url = `http://name:secret@127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  return createRegistryClient(
    { url, username: 'name', password: 'secret' },
    (problem) => problems.push(problem),
    limits,
  );
}

const answering =
  (status: number, body: string): RequestListener =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);

/** Returns the error of each of our requests. */
async function failuresOf(client: RegistryClient): Promise<Error[]> {
  const attempts = [client.requireCompatibility(subject), client.register(subject, '{}'), client.schemaOf(1)];
  const outcomes = await Promise.allSettled(attempts);
  return outcomes.map((outcome) => (outcome as PromiseRejectedResult).reason);
}

describe('is refused, with a reason', () => {
  test.each([
    ['a page of something else', 200, '<html>', 'is the address correct?'],
    ['a page that lies elsewhere', 302, '', 'is the address correct?'],
    ['an answer without what was asked for', 200, 'null', 'is the address correct?'],
    ['a path that nobody knows', 404, '{"message":"no such path"}', 'answered 404'],
    ['a schema that is not compatible', 409, '{"message":"field b"}', 'field b'],
    ['a wrong password', 401, '', 'answered 401 to user name'],
    ['a user who may not', 403, '', 'answered 403 to user name'],
  ])('%s', async (_, status, body, reason) => {
    const failures = await failuresOf(await clientOf(answering(status, body)));
    for (const failure of failures) {
      expect(failure.message).toContain(reason);
      expect(failure.message).not.toContain('secret');
      expect(isRefusal(failure)).toBe(true);
    }
    expect(problems).toEqual([]);
  });

  test('an address without TLS when TLS is configured', () => {
    expect(() => createRegistryClient({ url: 'http://name:secret@localhost', tls: {} }, () => {})).toThrow(
      'the schema registry at http://localhost/ has TLS options: its address must begin with https:',
    );
  });
});

describe('may pass, and is reported once', () => {
  test.each<[string, RequestListener]>([
    ['a failure', answering(500, '{"message":"secret of the registry"}')],
    ['a proxy without a registry', answering(503, '')],
    ['too many questions', answering(429, '')],
    ['a connection that breaks', (request) => request.socket.destroy()],
    [
      'an answer that breaks off',
      (_, response) => void response.writeHead(200).write('{"id":', () => response.destroy()),
    ],
    ['an answer without an end', (_, response) => void response.writeHead(200).write('{"id":')],
    ['no answer', () => {}],
    ['an answer without bound', (_, response) => void response.writeHead(200).end(' '.repeat(2 << 20))],
  ])('%s', async (_, answer) => {
    const failures = await failuresOf(await clientOf(answer, { requestTimeoutMs: 500 }));
    for (const failure of failures) {
      expect(isRefusal(failure)).toBe(false);
      expect(failure.message).not.toContain('secret');
    }
    expect(problems).toHaveLength(1);
  });
});

test('requests use the configured address and user', async () => {
  const requests: unknown[] = [];
  const client = await clientOf(
    ({ method, url, headers }, response) => {
      requests.push([method, url, headers.authorization]);
      response.end('{"compatibilityLevel":"FULL_TRANSITIVE","id":12,"schema":"{}"}');
    },
    { path: '/registry/v7//' },
  );
  await client.requireCompatibility('a/b');
  expect(await client.register('a/b', '{}')).toBe(12);
  expect(await client.schemaOf(12)).toBe('{}');
  const user = `Basic ${Buffer.from('name:secret').toString('base64')}`;
  expect(requests).toEqual([
    ['GET', '/registry/v7/config/a%2Fb', user],
    ['POST', '/registry/v7/subjects/a%2Fb/versions', user],
    ['GET', '/registry/v7/schemas/ids/12', user],
  ]);
});
