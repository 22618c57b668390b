/** Requests to a server under measurement, over connections that stay open. */
import { type Agent, request } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly key: string;
  readonly body?: string | Buffer | undefined;
  readonly contentType?: string;
}

export function send(agent: Agent, { method, url, key, body, contentType = 'application/json' }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: key,
      ...(body && { 'content-type': contentType, 'content-length': Buffer.byteLength(body) }),
    };
    const outgoing = request(url, { method, agent, headers }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
      incoming.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
