/** Undoing the compression of tiles and directories, within a bound on what comes out. */

import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';

/** Larger than any tile a renderer could draw in time; a bomb ends here. */
const maxOutputBytes = 64 * 2 ** 20;

const gunzipBounded = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzip);
const brotliBounded = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(brotliDecompress);

export function decompressGzip(bytes: Uint8Array): Promise<Uint8Array> {
  return gunzipBounded(bytes, { maxOutputLength: maxOutputBytes });
}

export function decompressBrotli(bytes: Uint8Array): Promise<Uint8Array> {
  return brotliBounded(bytes, { maxOutputLength: maxOutputBytes });
}

/** For tiles that don't say: gzip is known by its first two bytes, with which no vector tile begins. */
export async function decompressIfGzip(bytes: Uint8Array): Promise<Uint8Array> {
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? decompressGzip(bytes) : bytes;
}
