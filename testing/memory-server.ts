/** Files from memory over loopback HTTP, from a thread of its own: what is measured shares no thread with it. */
import { Worker } from 'node:worker_threads';

/** A running server. */
export interface MemoryServer {
  readonly url: string;
  close(): Promise<void>;
}

/** A file with its media type. */
export interface ServedFile {
  readonly type: string;
  readonly bytes: Uint8Array;
}

const code = `
const { createServer } = require('node:http');
const { parentPort, workerData } = require('node:worker_threads');
const server = createServer((request, response) => {
  const file = workerData.get(request.url.split('?')[0]);
  response.writeHead(file ? 200 : 404, { 'content-type': file ? file.type : 'text/plain' }).end(file && file.bytes);
});
server.keepAliveTimeout = 60000;
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

/** Serves files by path with its slash, whatever the query. All other paths are answered 404. */
export async function serveFromMemory(files: ReadonlyMap<string, ServedFile>): Promise<MemoryServer> {
  const worker = new Worker(code, { eval: true, workerData: files });
  const port = await new Promise<number>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      await worker.terminate();
    },
  };
}
