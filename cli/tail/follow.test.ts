import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { follow, Refused } from './follow.js';

/** Starts a server that answers its nth request with the nth listener, and further ones with the last. */
async function serverOf(...answers: RequestListener[]): Promise<{ url: string; server: Server }> {
  let requests = 0;
  const server = createServer((request, response) => {
    answers[Math.min(requests, answers.length - 1)]!(request, response);
    requests += 1;
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/events/stream`, server };
}

/** Follows until `count` messages have arrived. */
async function followed(url: string, count: number) {
  const end = new AbortController();
  const messages: { id: string; data: string }[] = [];
  const losses: string[] = [];
  await follow({
    url,
    key: 'key',
    onMessage: ({ id, data }) => {
      messages.push({ id, data });
      if (messages.length === count) end.abort();
    },
    onLoss: (reason) => losses.push(reason),
    signal: end.signal,
    minRetryMs: 1,
  });
  return { messages, losses };
}

const stream = (text: string, isCut = false): RequestListener => {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => isCut && response.destroy());
  };
};
const failing = (status: number, message: string): RequestListener => {
  return (_, response) => {
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ meta: { code: status, message } }));
  };
};

describe('a follower', () => {
  test('resumes from the last id, of a message or a heartbeat', async () => {
    const asked: (string | undefined)[] = [];
    const noting =
      (answer: RequestListener): RequestListener =>
      (request, response) => {
        asked.push(request.headers['last-event-id'] as string | undefined);
        answer(request, response);
      };
    const { url } = await serverOf(
      noting(stream('id: 1\n\nid: 2\ndata: a\n\nid: 3\ndata: unfin', true)),
      noting(stream('id: 3\ndata: b\n\n:\nid: 4\n\n', true)),
      noting(failing(503, 'starting')),
      noting(stream('data: c\n\n')),
    );
    const { messages, losses } = await followed(url, 3);
    expect(messages).toEqual([
      { id: '2', data: 'a' },
      { id: '3', data: 'b' },
      { id: '4', data: 'c' },
    ]);
    expect(asked).toEqual([undefined, '2', '4', '4']);
    expect(losses).toHaveLength(3);
    expect(losses[2]).toBe('starting');
  });

  test('waits for a server that is busy at first', async () => {
    const { url } = await serverOf(failing(429, 'too many streams'), stream('data: a\n\n'));
    expect((await followed(url, 1)).losses).toEqual(['too many streams']);
  });

  test('gives up when it is refused, at once or later', async () => {
    const refusal = failing(401, 'the key is unknown or revoked');
    const { url } = await serverOf(refusal);
    await expect(followed(url, 1)).rejects.toThrow(new Refused('the key is unknown or revoked'));
    const later = await serverOf(stream('data: a\n\n', true), refusal);
    await expect(followed(later.url, 2)).rejects.toThrow(Refused);
  });

  test('names the address where nothing answers', async () => {
    const { url, server } = await serverOf(stream(''));
    server.close();
    server.closeAllConnections();
    await expect(followed(url, 1)).rejects.toThrow(/nothing answers at http:\/\/127\.0\.0\.1:\d+ .*is it running/);
  });
});
