/**
 * Fetches archives and tiles by URL through the outbound client, with bounded size and time, and without following
 * redirects.
 */
import { allNetworks } from '../../outbound/addresses.js';
import { createOutboundClient } from '../../outbound/client.js';
import { limitText } from '../../schemas/wording.js';
import type { FetchBytes } from './fetch.js';

const defaultTimeoutMs = 8_000;
/** Maximum size of one response: a tile, or a directory of an archive. */
const maxBodyBytes = 16 * 2 ** 20;
const maxConnectionsPerOrigin = 16;

/** Fetches parts of an archive from addresses that are checked. Its owner closes it. */
export interface ArchiveFetcher {
  readonly fetchBytes: FetchBytes;
  close(): Promise<void>;
}

/** Creates the fetcher. The time limit applies to each request, including the wait for a connection. */
export function createArchiveFetcher(userAgent: string, timeoutMs = defaultTimeoutMs): ArchiveFetcher {
  const client = createOutboundClient({
    allowedNetworks: allNetworks,
    userAgent,
    timeoutMs,
    bodyTimeoutMs: timeoutMs,
    maxBodyBytes,
    maxConnectionsPerOrigin,
  });
  return {
    async fetchBytes(url, headers) {
      const answer = await client.send({ method: 'GET', url, headers });
      if (answer.kind === 'failed') throw new Error(`${answer.failure}: ${answer.message}`);
      if (answer.truncated)
        throw new Error(`an answer of more than ${limitText(maxBodyBytes)}, or one that took too long`);
      return { status: answer.status, headers: answer.headers, bytes: answer.body };
    },
    close: () => client.close(),
  };
}
