/** Sends requests to the measured server over persistent connections. */
import { type Agent, request } from 'node:http';

export interface Answer {
  readonly status: number;
  /** Decoded on access, because decoding an image takes longer than fetching it. */
  readonly text: string;
}

export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly key: string;
  readonly body?: string | Buffer | undefined;
  readonly contentType?: string;
}

export function send(
  agent: Agent,
  { method, url, key, body, contentType = 'application/json' }: Sent,
): Promise<Answer> {
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
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const answerOf = (status: number, body: Buffer): Answer => ({
  status,
  get text() {
    return body.toString();
  },
});
