/** Decompresses tiles and directories, up to a maximum size. */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import { limitText } from '../../schemas/wording.js';

/** Maximum decompressed size. Larger tiles could not be drawn in time. Protects from decompression bombs. */
export const maxOutputBytes = 64 * 2 ** 20;

interface Bounds {
  readonly maxOutputLength: number;
  readonly chunkSize: number;
}

const gunzipBounded = promisify<Uint8Array, Bounds, Buffer>(gunzip);
const brotliBounded = promisify<Uint8Array, Bounds, Buffer>(brotliDecompress);

/** Few tiles are decompressed to more times their size. */
const usualRatio = 4;
const minChunkBytes = 16 * 2 ** 10;
const maxChunkBytes = 4 * 2 ** 20;

/** Returns bounds with which most tiles come in one chunk: the engine waits for this thread after each. */
const boundsFor = ({ length }: Uint8Array, maxOutputLength: number): Bounds => ({
  maxOutputLength,
  chunkSize: Math.max(minChunkBytes, Math.min(maxChunkBytes, usualRatio * length)),
});

/** Decompresses gzip. Rejects beyond the maximum size. */
export function decompressGzip(bytes: Uint8Array, maxOutputLength = maxOutputBytes): Promise<Uint8Array> {
  return gunzipBounded(bytes, boundsFor(bytes, maxOutputLength)).catch((error) => rethrow(error, maxOutputLength));
}

/** Decompresses Brotli. Rejects beyond the maximum size. */
export function decompressBrotli(bytes: Uint8Array, maxOutputLength = maxOutputBytes): Promise<Uint8Array> {
  return brotliBounded(bytes, boundsFor(bytes, maxOutputLength)).catch((error) => rethrow(error, maxOutputLength));
}

/** The engine's error is a RangeError, like those of lists that end too early. */
function rethrow(error: NodeJS.ErrnoException, maxOutputLength: number): never {
  throw error.code === 'ERR_BUFFER_TOO_LARGE'
    ? new TypeError(`a part of the source has more than ${limitText(maxOutputLength)} when it is decompressed`)
    : error;
}

/**
 * Decompresses tiles of undeclared compression. gzip is detected by its first two bytes, with which no vector tile
 * begins.
 */
export async function decompressIfGzip(bytes: Uint8Array): Promise<Uint8Array> {
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? decompressGzip(bytes) : bytes;
}

/** The `accept-encoding` header. Some servers compress anyway. */
export const acceptedEncodings = 'gzip, br';

const decoders = new Map<string, (bytes: Uint8Array) => Promise<Uint8Array>>([
  ['gzip', decompressGzip],
  ['x-gzip', decompressGzip],
  ['br', decompressBrotli],
  ['identity', async (bytes) => bytes],
]);

/** Decodes a body by its `content-encoding`, the last one first. Rejects for encodings that were not requested. */
export async function decodeBody(bytes: Uint8Array, contentEncoding = ''): Promise<Uint8Array> {
  const encodings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((encoding) => encoding.trim())
    .filter((encoding) => encoding !== '');
  let decoded = bytes;
  for (const encoding of encodings.reverse()) {
    const decode = decoders.get(encoding);
    if (!decode) throw new TypeError(`the server answers with the encoding ${encoding}`);
    decoded = await decode(decoded);
  }
  return decoded;
}
