import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Redis } from 'ioredis';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { createClient, type RedisClient } from './client.js';

type Answer = (command: readonly string[], socket: Socket) => string | undefined;

const servers: Server[] = [];
const clients: RedisClient[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect();
  for (const server of servers.splice(0)) server.close();
});

/** Starts a server that answers commands in RESP; what `answer` leaves undefined gets `+OK`. Resolves to its port. */
async function serve(answer: Answer): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      // A command is an array of bulk strings; tests send no text with line breaks.
      for (const command of data
        .toString()
        .split(/^\*\d+\r\n/m)
        .filter(Boolean)) {
        const words = command.split('\r\n').filter((_, index) => index % 2 === 1);
        const text =
          answer(
            words.map((word) => word.toLowerCase()),
            socket,
          ) ?? '+OK\r\n';
        if (!socket.destroyed) socket.write(text);
      }
    });
  });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;

function open(port: number, isCluster: boolean): RedisClient {
  const options = { nodes: [{ host: '127.0.0.1', port }], isCluster, prefix: 'test' };
  const client = createClient({ ...options, connectTimeoutMs: 10_000, commandTimeoutMs: 10_000 });
  client.on('error', () => {});
  clients.push(client);
  return client;
}

/** Collects rejections that nobody handles until the test has finished. They would end a node. */
function collectUnhandled(): unknown[] {
  const unhandled: unknown[] = [];
  const take = (reason: unknown): void => void unhandled.push(reason);
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', take);
  onTestFinished(() => {
    process.removeListener('unhandledRejection', take);
    for (const other of others) process.on('unhandledRejection', other);
  });
  return unhandled;
}

/** Rejections count as unhandled once the microtasks of a turn are done. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('commands of ioredis itself ended a node when their connection was lost', () => {
  test('ASKING, to the server that a slot moves to', async () => {
    const unhandled = collectUnhandled();
    let asked = 0;
    const target = await serve(([name], socket) => {
      if (name !== 'asking') return undefined;
      asked += 1;
      socket.destroy();
      return undefined;
    });
    const source: number = await serve(([name, part]) => {
      if (name === 'get') return `-ASK 1 127.0.0.1:${target}\r\n`;
      if (name === 'info') return bulk('loading:0');
      if (name !== 'cluster') return undefined;
      if (part === 'info') return bulk('cluster_state:ok');
      return `*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n${bulk('127.0.0.1')}:${source}\r\n`;
    });
    const client = open(source, true);
    await once(client, 'ready');
    await expect(client.get('key')).rejects.toThrow();
    await nextTurn();
    expect(asked).toBeGreaterThan(0);
    expect(unhandled).toEqual([]);
  });

  test('the subscription that a client repeats once it has connected again', async () => {
    const unhandled = collectUnhandled();
    let subscriptions = 0;
    const port = await serve(([name, channel = ''], socket) => {
      if (name === 'info') return bulk('loading:0');
      if (name !== 'ssubscribe') return undefined;
      subscriptions += 1;
      // The first one is answered, and its connection is lost later.
      if (subscriptions > 1) socket.destroy();
      return `*3\r\n${bulk('ssubscribe')}${bulk(channel)}:1\r\n`;
    });
    const client = open(port, false) as Redis;
    await once(client, 'ready');
    await client.ssubscribe('channel');
    let closes = 0;
    client.on('close', () => {
      closes += 1;
    });
    client.disconnect(true);
    await expect.poll(() => closes, { timeout: 60_000 }).toBeGreaterThan(1);
    await nextTurn();
    expect(subscriptions).toBeGreaterThan(1);
    expect(unhandled).toEqual([]);
  });
});
