/**
 * The webhook receivers of the bench, in a separate thread. They listen on every address of 127.0.0.0/8 on one port, so
 * that thousands of endpoints are thousands of hosts. Requests to `/dead…` are never answered, those to `/refuse` get
 * 503.
 *
 * A snapshot returns the number of requests since the last one, and the latency of each since its location was
 * accepted.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

/** Requests since the last snapshot to paths that are answered 204. */
interface Snapshot {
  readonly requests: number;
  /** For each request, the time from the server's receipt of the location until the request is read. */
  readonly latenciesMs: readonly number[];
}

/** Running receivers. */
export interface BenchReceiver {
  readonly port: number;
  snapshot(): Promise<Snapshot>;
  close(): Promise<void>;
}

/** Starts the thread. Resolves when it listens. */
export async function startReceiver(): Promise<BenchReceiver> {
  const worker = new Worker(new URL(import.meta.url));
  const next = () => new Promise<unknown>((resolve) => worker.once('message', resolve));
  const port = (await next()) as number;
  return {
    port,
    async snapshot() {
      const answer = next();
      worker.postMessage('snapshot');
      return (await answer) as Snapshot;
    },
    async close() {
      await worker.terminate();
    },
  };
}

const acceptedAtPattern = /"actualCreatedAt":"([^"]+)"/;

function receive(): void {
  let latenciesMs: number[] = [];
  let requests = 0;
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      if (incoming.url?.startsWith('/dead')) return;
      if (incoming.url?.startsWith('/refuse')) {
        response.writeHead(503).end();
        return;
      }
      requests += 1;
      const acceptedAt = acceptedAtPattern.exec(Buffer.concat(chunks).toString())?.[1];
      if (acceptedAt) latenciesMs.push(Date.now() - Date.parse(acceptedAt));
      response.writeHead(204).end();
    });
  });
  server.listen(0, '0.0.0.0', () => parentPort?.postMessage((server.address() as AddressInfo).port));
  parentPort?.on('message', () => {
    parentPort?.postMessage({ requests, latenciesMs } satisfies Snapshot);
    requests = 0;
    latenciesMs = [];
  });
}

if (!isMainThread) receive();
