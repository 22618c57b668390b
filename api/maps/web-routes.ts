/**
 * Routes for interactive maps: a style, and the tiles, glyphs and sprites that it names.
 *
 * A style contains the addresses of this installation. They contain the key if it is publishable, so that clients that
 * send no headers can load them.
 */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import Type, { type TProperties, type TSchema } from 'typebox';
import { callerOf, keyOfRequest } from '../../http/access/authority.js';
import type { Caller } from '../../http/access/keys.js';
import { leavingOf } from '../../http/access/revocation.js';
import { acceptsCoding, isKnown } from '../../http/answers/representations.js';
import { contentOf, described } from '../../http/describe.js';
import { accepted } from '../../http/fields/reader.js';
import { faceOf } from '../../renderer/labels/text/font-face.js';
import { webFileCostMs, webStyleCostMs } from '../../renderer/request/cost.js';
import { isOfDevice, readLanguage, readStyle } from '../../renderer/request/request.js';
import { builtInStyles, isBuiltInStyle, styleNamed } from '../../renderer/styles/names.js';
import { forOlderLibraries } from '../../renderer/web/older-libraries.js';
import { type Tileset, tilesets, type WebFileRequest } from '../../renderer/web/requests.js';
import { withAddresses } from '../../renderer/web/style.js';
import { ApiError, parameterError } from '../../schemas/errors.js';
import type { MapParts } from '../dependencies.js';
import type { CostLimit } from './cost-limit.js';
import { type FinishedFile, type FinishedFiles, type Make, maxAgeS, neverBegan } from './images.js';
import type { Resolve } from './uploads.js';

interface WebMapParts {
  readonly maps: MapParts;
  readonly resolve: Resolve;
  readonly styles: FinishedFiles;
  readonly files: FinishedFiles;
  readonly costLimit: CostLimit;
}

const compress = promisify<Uint8Array, Buffer>(gzip);
const decompress = promisify<Uint8Array, Buffer>(gunzip);

/** `Cache-Control` of styles, which contain a key and may change with the installation. */
const cacheControlOfStyle = 'private, max-age=300';
const varyOfStyle = 'Accept-Encoding, Authorization, X-Radar-SDK-Version, X-Radar-Mobile-Origin';
const cacheControlOfUpload = 'private, no-cache';
const cacheControlOfFile = `public, max-age=${maxAgeS}`;

const config = { authority: 'publishable', limit: 'query', keyInQuery: true } as const;

const publishableKey = Type.Optional(
  Type.String({ description: 'A publishable key of the project, in place of the header Authorization' }),
);
const binary = Type.String({ format: 'binary' });

interface RouteDescription {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly params: TSchema;
  readonly querystring?: TProperties;
  /** Media types of the answer. */
  readonly content: Readonly<Record<string, TSchema>>;
  readonly failures?: readonly 404[];
}

/** Returns the schema of a route. `none` describes 204, if the route answers it. */
function schemaOf({ content, querystring = {}, ...rest }: RouteDescription, none?: string) {
  const description = described({
    ...rest,
    tag: 'maps',
    querystring: Type.Object({ ...querystring, publishableKey }),
    answer: contentOf(content),
    entityTag: 'answered',
  });
  const notModified = Type.Null({ description: 'The file is the one that If-None-Match names' });
  const response = {
    ...(description.response as object),
    304: notModified,
    ...(none && { 204: Type.Null({ description: none }) }),
  };
  return { ...description, response };
}

const styleSchema = schemaOf({
  operationId: 'getInteractiveMapStyle',
  summary: 'Get a style for interactive maps',
  description: 'Returns a MapLibre style with the addresses of tiles, glyphs and sprites of this installation.',
  params: Type.Object({
    style: Type.String({
      description: '`svc-default-v1`, `svc-light-v1`, `svc-dark-v1`, or the id of an uploaded style',
    }),
  }),
  querystring: {
    language: Type.Optional(
      Type.String({
        default: 'en-US',
        description: 'Of names: a two-letter ISO code, `local` for that of the device, or `native`',
      }),
    ),
  },
  content: { 'application/json': Type.Record(Type.String(), Type.Unknown()) },
});

const tileSchema = schemaOf(
  {
    operationId: 'getMapTile',
    summary: 'Get a tile of interactive maps',
    params: Type.Object({
      tileset: Type.Enum([...tilesets], {
        description: 'The configured archive, the built-in basemap, or its names beyond the archive',
      }),
      z: Type.Integer({ minimum: 0, maximum: 24 }),
      x: Type.Integer({ minimum: 0 }),
      y: Type.Integer({ minimum: 0, description: 'Counted from the north' }),
    }),
    content: {
      'application/vnd.mapbox-vector-tile': binary,
      'image/png': binary,
      'image/webp': binary,
      'image/jpeg': binary,
    },
    failures: [404],
  },
  'There is no tile',
);

const glyphsSchema = schemaOf({
  operationId: 'getMapGlyphs',
  summary: 'Get the glyphs of 256 characters for interactive maps',
  params: Type.Object({
    fontstack: Type.String({ description: 'Font names, separated by commas; the first one decides the face' }),
    range: Type.String({ description: 'First and last character, such as `0-255.pbf`' }),
  }),
  content: { 'application/x-protobuf': binary },
});

const spriteSchema = schemaOf({
  operationId: 'getMapSprite',
  summary: 'Get the images of a built-in style for interactive maps',
  params: Type.Object({
    file: Type.String({ description: 'Name of the style, `@2x` for double density, and `.json` or `.png`' }),
  }),
  content: { 'application/json': Type.Record(Type.String(), Type.Unknown()), 'image/png': binary },
  failures: [404],
});

/**
 * Returns whether an SDK may draw the map with an older library. Such SDKs ask for one of Radar's styles, and send no
 * header of theirs: the web SDK before 4.3 with MapLibre GL JS 2.4, and that for React Native with MapLibre Native.
 */
const mayHaveOlderLibrary = ({ headers }: FastifyRequest, style: string): boolean =>
  style.startsWith('radar-') && !Object.keys(headers).some((name) => name.startsWith('x-radar-'));

type Parameters<Names extends string> = { Params: Readonly<Record<Names, string>> };

/** Serves what interactive maps load: styles, TileJSON, tiles, glyphs and sprites. */
export const webMapRoutes =
  ({ maps, resolve, styles, files, costLimit }: WebMapParts): FastifyPluginAsync =>
  async (app) => {
    app.get<Parameters<'style'> & { Querystring: Readonly<Record<string, string>> }>('/maps/styles/:style', {
      config,
      schema: styleSchema,
      async handler(request, reply) {
        const caller = callerOf(request);
        const language = accepted(readLanguage(request.query.language, request.headers['accept-language']));
        const name = accepted(readStyle(request.params.style));
        const resolved = resolve(caller, { style: name, markers: [] });
        const addressOf = addresses(request, caller, maps.publicUrl);
        const isForOlder = mayHaveOlderLibrary(request, request.params.style);
        const key = JSON.stringify([
          'style',
          caller.project,
          resolved.request.style,
          language,
          addressOf(''),
          isForOlder,
        ]);
        const make: Make = async (abandonment) => {
          const { style: uploaded } = resolved.uploads();
          const wanted = { name: resolved.request.style, language, uploaded };
          const work = () => maps.webStyle(caller.project, wanted, abandonment);
          const style = await charged(caller, webStyleCostMs, work, abandonment);
          const shown = isForOlder ? forOlderLibraries(style) : style;
          const json = JSON.stringify(withAddresses(shown, addressOf));
          return { bytes: await compress(Buffer.from(json)), contentType: 'application/json; charset=utf-8', maxAgeS };
        };
        const file = await styles.get(caller.project, key, make, leavingOf(reply));
        return send(request, reply, file, {
          'cache-control': resolved.hasStyle ? cacheControlOfUpload : cacheControlOfStyle,
          vary: isOfDevice(request.query.language) ? `${varyOfStyle}, Accept-Language` : varyOfStyle,
        });
      },
    });

    app.get<Parameters<'tileset' | 'z' | 'x' | 'y'>>('/maps/tiles/:tileset/:z/:x/:y', {
      config,
      schema: tileSchema,
      handler: (request, reply) => sendFile(request, reply, tileOf(request.params)),
    });

    app.get<Parameters<'fontstack' | 'range'>>('/maps/glyphs/:fontstack/:range', {
      config,
      schema: glyphsSchema,
      handler: (request, reply) => sendFile(request, reply, glyphsOf(request.params)),
    });

    app.get<Parameters<'file'>>('/maps/sprites/:file', {
      config,
      schema: spriteSchema,
      handler: (request, reply) => sendFile(request, reply, spriteOf(request.params.file)),
    });

    /** Charges the key before the work and, when it took longer than estimated or never began, corrects that. */
    async function charged<R>(
      { project, environment, keyHint }: Caller,
      costMs: number,
      work: () => Promise<{ readonly result: R; readonly processorMs: number }>,
      abandonment: AbortSignal,
    ): Promise<R> {
      const key = `${project}/${environment}/${keyHint}`;
      costLimit.charge(key, costMs);
      const { result, processorMs } = await work().catch((error: unknown) => {
        if (neverBegan(error, abandonment)) costLimit.giveBack(key, costMs);
        throw error;
      });
      costLimit.chargeMore(key, processorMs - costMs);
      return result;
    }

    async function sendFile(request: FastifyRequest, reply: FastifyReply, asked: WebFileRequest) {
      const caller = callerOf(request);
      const make: Make = async (abandonment) => {
        const work = () => maps.webFile(caller.project, asked, abandonment);
        const made = await charged(caller, webFileCostMs[asked.file], work, abandonment);
        return { bytes: made?.bytes ?? Buffer.of(), contentType: made?.contentType ?? '', maxAgeS };
      };
      const file = await files.get(caller.project, JSON.stringify(asked), make, leavingOf(reply));
      return send(request, reply, file, { 'cache-control': cacheControlOfFile, vary: 'Accept-Encoding' });
    }
  };

/** Sends a file, decompressed for clients that do not accept gzip, or 304, or 204 for no bytes. */
async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { bytes, contentType, etag }: FinishedFile,
  headers: Readonly<Record<string, string>>,
): Promise<FastifyReply> {
  // Weak (RFC 9110, 8.8.3), because the file has one tag for both encodings.
  reply.headers({ ...headers, etag: `W/${etag}` });
  if (isKnown(request, etag)) return reply.code(304).send();
  if (bytes.length === 0) return reply.code(204).send();
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const acceptsGzip = acceptsCoding(request, 'gzip');
  if (isGzip && acceptsGzip) reply.header('content-encoding', 'gzip');
  const sent = isGzip && !acceptsGzip ? await decompress(bytes) : bytes;
  return reply.type(contentType).send(Buffer.from(sent.buffer, sent.byteOffset, sent.byteLength));
}

/** Returns a function that makes the address of a path, for clients that send the same key or session. */
function addresses(request: FastifyRequest, { kind, role, project, environment }: Caller, publicUrl: string) {
  const base = publicUrl === '' ? `${request.protocol}://${request.host}` : publicUrl.replace(/\/+$/, '');
  const key = kind === 'publishable' ? keyOfRequest(request) : undefined;
  const query =
    key !== undefined
      ? `?${new URLSearchParams({ publishableKey: key })}`
      : role !== undefined
        ? `?${new URLSearchParams({ project, environment })}`
        : '';
  return (path: string): string => `${base}${path}${query}`;
}

function tileOf({ tileset, z, x, y }: Parameters<'tileset' | 'z' | 'x' | 'y'>['Params']): WebFileRequest {
  if (!(tilesets as readonly string[]).includes(tileset)) {
    throw new ApiError('not_found', `there is no tileset "${tileset}"; there are ${tilesets.join(', ')}`);
  }
  const zoom = whole('z', z, 24);
  const last = 2 ** zoom - 1;
  return { file: 'tile', tileset: tileset as Tileset, zoom, x: whole('x', x, last), y: whole('y', y, last) };
}

function whole(param: string, text: string, maximum: number): number {
  const value = /^\d{1,8}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= maximum) return value;
  throw parameterError({ param, rule: `must be a whole number from 0 to ${maximum}` });
}

const rangeLength = 256;
const lastRange = 65_280;

function glyphsOf({ fontstack, range }: Parameters<'fontstack' | 'range'>['Params']): WebFileRequest {
  const [, first, last] = /^(\d{1,5})-(\d{1,5})\.pbf$/.exec(range) ?? [];
  const start = Number(first);
  if (start % rangeLength !== 0 || start > lastRange || Number(last) !== start + rangeLength - 1) {
    throw parameterError({ param: 'range', rule: 'must be 256 characters, such as 0-255.pbf, up to 65280-65535.pbf' });
  }
  return { file: 'glyphs', face: faceOf(fontstack.split(',')), start };
}

function spriteOf(file: string): WebFileRequest {
  const [, name = '', density, format] = /^([\w-]+)(@2x)?\.(json|png)$/.exec(file) ?? [];
  const style = styleNamed(name);
  if (!isBuiltInStyle(style))
    throw new ApiError('not_found', `there is no such sprite; there are those of ${builtInStyles.join(', ')}`);
  return { file: 'sprite', style, format: format === 'json' ? 'json' : 'png', pixelRatio: density ? 2 : 1 };
}
