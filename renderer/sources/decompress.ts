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

/** What a server is told that it may use; some compress without being told. */
export const acceptedEncodings = 'gzip, br';

const decoders: Readonly<Record<string, (bytes: Uint8Array) => Promise<Uint8Array>>> = {
  gzip: decompressGzip,
  'x-gzip': decompressGzip,
  br: decompressBrotli,
  identity: async (bytes) => bytes,
};

/** A body as its `content-encoding` says, the last one first. Rejects for encodings that weren't asked for. */
export async function decodeBody(bytes: Uint8Array, contentEncoding = ''): Promise<Uint8Array> {
  const encodings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((encoding) => encoding.trim())
    .filter((encoding) => encoding !== '');
  let decoded = bytes;
  for (const encoding of encodings.reverse()) {
    const decode = decoders[encoding];
    if (!decode) throw new TypeError(`the server answers with the encoding ${encoding}`);
    decoded = await decode(decoded);
  }
  return decoded;
}
