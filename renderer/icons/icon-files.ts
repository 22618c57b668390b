/**
 * Fetches icons by URL from untrusted servers.
 *
 * Input: the URLs of a request. Output: the files that were fetched. Decoding checks later whether a file is an image.
 * Imports `outbound`.
 */
import type { OutboundClient, OutboundOptions } from '../../outbound/client.js';
import { RemoteFiles } from './remote-files.js';

/** Maximum size of an icon file. */
export const maxIconBytes = 262_144;
/** Time limit of each request. A redirect is another request. */
const iconTimeoutMs = 3_000;
/** Bounds of the client that fetches icons. */
export const iconBounds = {
  timeoutMs: iconTimeoutMs,
  bodyTimeoutMs: iconTimeoutMs,
  maxBodyBytes: maxIconBytes,
  maxConnectionsPerOrigin: 4,
} satisfies Partial<OutboundOptions>;

/** Maximum concurrent downloads: a project alone may draw five maps with the most icons at once. */
export const maxPendingIcons = 200;
const maxKeptBytes = 16 * 2 ** 20;

/** Fetches and caches marker icons. */
export class IconFiles extends RemoteFiles {
  constructor(client: Pick<OutboundClient, 'send'>) {
    super(client, { accept: 'image/png, image/svg+xml', maxPending: maxPendingIcons, maxKeptBytes });
  }
}
