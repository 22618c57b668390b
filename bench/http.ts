/** Sends requests to the measured server over persistent connections. */
import { type Agent, request } from 'node:http';

/** The answer to a request. */
export interface Answer {
  readonly status: number;
  /** Decoded on access, because decoding an image takes longer than fetching it. */
  readonly text: string;
}

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly key: string;
  readonly body?: string | Buffer | undefined;
  readonly contentType?: string;
}

/**
 * Sends a request and resolves to its answer. A server may close an idle connection at the moment when the client
 * reuses it: such a request is sent once more, as Node's documentation of `request.reusedSocket` advises.
 */
export function send(agent: Agent, sent: Sent): Promise<Answer> {
  const { method, url, key, body, contentType = 'application/json' } = sent;
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: key,
      ...(body && { 'content-type': contentType, 'content-length': Buffer.byteLength(body) }),
    };
    const outgoing = request(url, { method, agent, headers }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => resolve(answerOf(incoming.statusCode ?? 0, Buffer.concat(chunks))));
      incoming.on('error', reject);
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (outgoing.reusedSocket && error.code === 'ECONNRESET') resolve(send(agent, sent));
      else reject(error);
    });
    outgoing.end(body);
  });
}

const answerOf = (status: number, body: Buffer): Answer => ({
  status,
  get text() {
    return body.toString();
  },
});
