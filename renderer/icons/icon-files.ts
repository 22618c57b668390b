/**
 * Icons by URL, of strangers' servers.
 *
 * Flows in: the URLs of a request. Flows out: the files that could be had. Whether a file is an image is seen where it
 * is decoded. Imports `outbound`.
 */
import type { OutboundClient, OutboundOptions } from '../../outbound/client.js';
import { RemoteFiles } from './remote-files.js';

/** Of the client that fetches icons: a file larger than this is none. */
export const maxIconBytes = 262_144;
/** For each request; one that is redirected asks again. */
export const iconTimeoutMs = 3_000;
export const iconBounds = {
  timeoutMs: iconTimeoutMs,
  bodyTimeoutMs: iconTimeoutMs,
  maxBodyBytes: maxIconBytes,
  maxConnectionsPerOrigin: 4,
} satisfies Partial<OutboundOptions>;

/** Icons on their way at once; one more is not to be had for now. */
export const maxPendingIcons = 100;
const maxKeptBytes = 16 * 2 ** 20;

export class IconFiles extends RemoteFiles {
  constructor(client: Pick<OutboundClient, 'send'>) {
    super(client, { accept: 'image/png, image/svg+xml', maxPending: maxPendingIcons, maxKeptBytes });
  }
}
