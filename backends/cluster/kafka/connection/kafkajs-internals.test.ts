import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { ISocketFactory } from 'kafkajs';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { shareAttemptsToConnect, stopIdleTimers, verifyInternals } from './kafkajs-internals.js';
import { socketFactory } from './sockets.js';

const require = createRequire(import.meta.url);

/** The installed kafkajs, with one module replaced. */
const withModule = (changed: string, module: unknown) => (name: string) => (name === changed ? module : require(name));

describe('undeclared parts of kafkajs', () => {
  test('exist in the installed version', () => verifyInternals());

  test('the pinned version is the tested one', () => {
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    const source = readFileSync('backends/cluster/kafka/connection/kafkajs-internals.ts', 'utf8');
    expect(source).toContain(`const testedVersion = '${dependencies.kafkajs}';`);
  });

  test.each([
    ['kafkajs/src/network/connectionPool.js', class {}, 'connections have no method send'],
    ['kafkajs/src/broker/index.js', class {}, 'brokers have no method fetch; brokers have no method initProducerId'],
    [
      'kafkajs/src/protocol/recordBatch/v0/decoder.js',
      async () => ({ records: [{}, {}] }),
      'fetched records do not refer',
    ],
  ])('the error names the version and the missing part: %s', async (name, module, fault) => {
    const version = { version: '2.9.0' };
    const from = (asked: string) => (asked === 'kafkajs/package.json' ? version : withModule(name, module)(asked));
    const failure = await verifyInternals(from).then(
      () => expect.fail(),
      (error: Error) => error.message,
    );
    expect(failure).toContain("kafkajs 2.9.0 can't be used");
    expect(failure).toContain(fault);
    expect(failure).toContain('install 2.2.4');
  });

  test('a module that has moved is reported as well', async () => {
    const from = (name: string) => {
      if (name.includes('/src/broker')) throw new Error(`Cannot find module '${name}'`);
      return require(name);
    };
    await expect(verifyInternals(from)).rejects.toThrow(
      "brokers have no method fetch (Cannot find module 'kafkajs/src/broker/index.js')",
    );
  });

  test('are used by no other file', () => {
    const files = ['backends', 'cli', 'pipeline', 'ingest', 'api', 'http', 'bench', 'test'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && !name.includes('node_modules') && !name.includes('kafkajs-internals'))
        .map((name) => join(folder, name)),
    );
    const reaching = /kafkajs\/src|\.connectionPool\b|\.brokerPool\b|as unknown as (Internal|Broker\b.*\.)/;
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((file) => reaching.test(readFileSync(file, 'utf8')))).toEqual([]);
  });
});

describe('requests at once', () => {
  /** Returns a connection to a server that counts its sockets. */
  async function connectionTo(open: ISocketFactory) {
    let accepted = 0;
    const server = createServer(() => {
      accepted += 1;
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const Connection = require('kafkajs/src/network/connection.js');
    const silent = { namespace: () => silent, debug: () => {}, error: () => {} };
    const limits = { connectionTimeout: 1_000, requestTimeout: 60_000 };
    const connection = new Connection({ host: '127.0.0.1', port, logger: silent, ...limits, socketFactory: open });
    return { connection, accepted: () => accepted };
  }

  // Partitions that were read at once left sockets open, and the end of one rejected the requests of another.
  test('open one socket', async () => {
    shareAttemptsToConnect();
    shareAttemptsToConnect();
    const { connection, accepted } = await connectionTo(socketFactory);
    connection.connectionTimeout = 60_000;
    await Promise.all([connection.connect(), connection.connect(), connection.connect()]);
    await connection.connect();
    await connection.disconnect();
    expect(accepted()).toBe(1);
  });

  test('fail together, and the next one connects anew', async () => {
    shareAttemptsToConnect();
    const { connection } = await connectionTo((options) => {
      const socket = socketFactory({ ...options, onConnect: () => {} });
      return socket.once('connect', () => socket.emit('end'));
    });
    const attempts = [connection.connect(), connection.connect()];
    for (const attempt of attempts) await expect(attempt).rejects.toThrow('no connection within 2000 ms');
    connection.socketFactory = socketFactory;
    connection.connectionTimeout = 60_000;
    await expect(connection.connect()).resolves.toBe(true);
    await connection.disconnect();
  });
});

describe('kafkajs woke every connection each millisecond', () => {
  stopIdleTimers();
  stopIdleTimers();
  const RequestQueue = require('kafkajs/src/network/requestQueue/index.js');
  const logger = { debug: () => {} };
  const newQueue = () =>
    new RequestQueue({ maxInFlightRequests: 1, requestTimeout: 30_000, clientId: 'test', broker: 'b:1', logger });

  /** Adds a request, and returns its number once it is sent. */
  function push(queue: typeof RequestQueue, sent: number[], correlationId: number): void {
    const entry = { correlationId, apiKey: 0, apiName: 'Test', apiVersion: 0, resolve: () => {}, reject: () => {} };
    queue.push({ entry, expectResponse: true, sendRequest: () => sent.push(correlationId) });
  }

  afterEach(() => void vi.useRealTimers());

  test('an idle connection has no timer', () => {
    vi.useFakeTimers();
    const queue = newQueue();
    const sent: number[] = [];
    push(queue, sent, 1);
    queue.fulfillRequest({ correlationId: 1, payload: Buffer.alloc(0), size: 0 });
    expect([sent, vi.getTimerCount()]).toEqual([[1], 0]);
  });

  test('a request that waits for an answer of another is sent at that answer', () => {
    vi.useFakeTimers();
    const queue = newQueue();
    const sent: number[] = [];
    push(queue, sent, 1);
    push(queue, sent, 2);
    expect(sent).toEqual([1]);
    queue.fulfillRequest({ correlationId: 1, payload: Buffer.alloc(0), size: 0 });
    expect(sent).toEqual([1, 2]);
  });

  test('a request to a broker that asked for a pause is sent after it', async () => {
    vi.useFakeTimers();
    const queue = newQueue();
    const sent: number[] = [];
    queue.maybeThrottle(500);
    push(queue, sent, 1);
    await vi.advanceTimersByTimeAsync(499);
    expect(sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(20);
    expect(sent).toEqual([1]);
    queue.fulfillRequest({ correlationId: 1, payload: Buffer.alloc(0), size: 0 });
    await vi.advanceTimersByTimeAsync(20);
    expect(vi.getTimerCount()).toBe(0);
  });
});
