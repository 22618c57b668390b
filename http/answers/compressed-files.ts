/** Compresses files that a package sends from its folder as they are. */
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { acceptsCoding } from './representations.js';

const compress = promisify<Buffer, Buffer>(gzip);
const compressible = /^(?:text\/|application\/(?:javascript|json)|image\/svg)/;

/**
 * Sends the files of the route `url` in coding gzip to clients that read it. A file is compressed for its first reader
 * and kept, so each further request costs no processor time. The route gives each version of a file an ETag.
 */
export function compressFiles(app: FastifyInstance, url: string): void {
  /** By entity tag, so that other spellings of a path are no further files. */
  const compressed = new Map<string, Promise<Buffer>>();

  async function compressOnce(tag: string, file: NodeJS.ReadableStream & { destroy(): unknown }): Promise<Buffer> {
    const known = compressed.get(tag);
    if (known !== undefined) {
      file.destroy();
      return known;
    }
    const written = buffer(file).then((bytes) => compress(bytes));
    compressed.set(tag, written);
    written.catch(() => compressed.delete(tag));
    return written;
  }

  app.addHook('onSend', async (request, reply, payload) => {
    if (request.routeOptions.url !== url || !compressible.test(String(reply.getHeader('content-type')))) return payload;
    reply.header('vary', 'Accept-Encoding');
    const tag = reply.getHeader('etag');
    const isWhole = request.method === 'GET' && reply.statusCode === 200 && typeof tag === 'string';
    if (!isWhole || !acceptsCoding(request, 'gzip')) return payload;
    const bytes = await compressOnce(tag, payload as NodeJS.ReadableStream & { destroy(): unknown });
    reply.removeHeader('accept-ranges').headers({ 'content-encoding': 'gzip', 'content-length': bytes.length });
    return bytes;
  });
}
