import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { setCallScope } from './call';
import { followStream, type StreamMessage } from './stream';

test('a stream continues behind its last id, also through a proxy that ends lines with CRLF', async () => {
  // No message of such a stream was shown: the page looked for two line feeds.
  setCallScope(undefined);
  const requested: (string | undefined)[] = [];
  const server = createServer(({ url }, response) => {
    requested.push(url);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('retry: 1000\r\nid: a\r\n\r\nid: b\r\nevent: x\r\ndata: {\r\ndata: }\r\n\r\n:\r\nid: c\r\n\r\n');
    response.end('data: unfinished\r\nid: d\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const messages: StreamMessage[] = [];
  await new Promise<void>((resolve) => {
    const stop = followStream(
      `http://127.0.0.1:${(server.address() as AddressInfo).port}/stream`,
      {},
      {
        onMessage: (message) => messages.push(message),
        onState: (state) => requested.length === 2 && state === 'open' && resolve(),
      },
    );
    onTestFinished(() => {
      stop();
      server.close();
    });
  });
  expect(messages[0]).toEqual({ type: 'x', data: '{\n}' });
  expect(requested).toEqual(['/stream', '/stream?lastEventId=c']);
});
