/** Routes for maps: images for the `src` of a page, and what interactive maps load. */
import type { FastifyPluginAsync } from 'fastify';
import { callerOf } from '../../http/access/authority.js';
import type { Caller } from '../../http/access/keys.js';
import { leavingOf } from '../../http/access/revocation.js';
import { isKnown } from '../../http/answers/representations.js';
import { described } from '../../http/describe.js';
import { accepted } from '../../http/fields/reader.js';
import { mapCostMs } from '../../renderer/request/cost.js';
import { isOfDevice, type Query, readMapQuery } from '../../renderer/request/request.js';
import type { MapRequest } from '../../renderer/types.js';
import { fieldError } from '../../schemas/errors.js';
import type { ApiDependencies } from '../dependencies.js';
import { createCostLimit } from './cost-limit.js';
import { mapAnswer, mapParameters, notModified } from './description.js';
import { fencesOfTag } from './fences.js';
import { type Drawing, type FinishedFile, FinishedFiles, Images } from './images.js';
import { createResolver, type Resolved } from './uploads.js';
import { webMapRoutes } from './web-routes.js';

/** `Cache-Control` of maps with geofences, which are private and may change at any time. */
const cacheControlOfFences = 'private, no-cache';
/** `Cache-Control` of maps with uploads, which may change at any time. */
const cacheControlOfUploads = 'public, no-cache';

const description = described({
  operationId: 'getStaticMap',
  tag: 'maps',
  summary: 'Draw a map',
  description: 'Returns a PNG, WebP or JPEG. Without `center` and `zoom` or `bbox`, the map shows all its overlays.',
  querystring: mapParameters,
  answer: mapAnswer,
  entityTag: 'answered',
});

/**
 * Share of the cache for styles of interactive maps. A style contains the address of the request, so a client can ask
 * for any number of them.
 */
const shareOfStyles = 1 / 16;

type MapDependencies = Pick<ApiDependencies, 'configuration' | 'clock' | 'maps' | 'observeCache'>;

/** Serves GET /maps/static and the files of interactive maps. Each key has a share of drawing time. */
export const mapRoutes =
  ({ configuration, clock, maps, observeCache }: MapDependencies): FastifyPluginAsync =>
  async (app) => {
    const styleBytes = shareOfStyles * maps.maxCacheBytes;
    const styles = new FinishedFiles(styleBytes, (read) => observeCache?.('map_styles', read));
    const files = new FinishedFiles(maps.maxCacheBytes - styleBytes, (read) => observeCache?.('map_files', read));
    const images = new Images(maps.render, files);
    const resolve = createResolver(configuration);
    const costLimit = createCostLimit(maps.costPerKeyPerSecond, clock);
    await app.register(webMapRoutes({ maps, resolve, styles, files, costLimit }));

    app.get('/maps/static', {
      config: { authority: 'publishable', limit: 'query', keyInQuery: true },
      schema: { ...description, response: { ...(description.response as object), 304: notModified } },
      handler: async (request, reply) => {
        const caller = callerOf(request);
        const query = request.query as Query;
        const leaving = leavingOf(reply);
        const given = accepted(readMapQuery(query, request.headers));
        const fences = await fencesFor(caller, given.geofenceTag, leaving);
        const asked = resolve(caller, { ...given.request, fences });
        const image = await images.get(asked.request, { ...drawingFor(caller, asked), leaving });
        reply.headers({ etag: image.etag, 'cache-control': cacheControl(asked, image), vary: varyOf(query) });
        const { missingFonts = [] } = image;
        if (missingFonts.length > 0) reply.header('x-fenceline-missing-fonts', missingFonts.join(', '));
        if (isKnown(request, image.etag)) return reply.code(304).send();
        return reply
          .type(image.contentType)
          .send(Buffer.from(image.bytes.buffer, image.bytes.byteOffset, image.bytes.byteLength));
      },
    });

    /** Cached images cost nothing. */
    function drawingFor(
      { project, environment, keyHint }: Caller,
      { request, hasStyle, uploads }: Resolved<MapRequest>,
    ): Omit<Drawing, 'leaving'> {
      const key = `${project}/${environment}/${keyHint}`;
      const costMs = mapCostMs(request, hasStyle);
      return {
        project,
        uploads() {
          costLimit.charge(key, costMs);
          return uploads();
        },
        onDrawn: (processorMs) => costLimit.chargeMore(key, processorMs - costMs),
        onNeverBegun: () => costLimit.giveBack(key, costMs),
      };
    }

    async function fencesFor(caller: Caller, tag: string | null, leaving: AbortSignal): Promise<MapRequest['fences']> {
      if (tag === null) return [];
      if (caller.kind !== 'secret') throw fieldError('forbidden', { param: 'geofences', rule: 'needs a secret key' });
      return accepted(await fencesOfTag(configuration, caller, tag, leaving));
    }
  };

/** Returns the headers on which the map depends. Only the language of the device needs a copy for each. */
const varyOf = ({ language }: Query): string => (isOfDevice(language) ? 'Accept, Accept-Language' : 'Accept');

function cacheControl({ request, hasUploads }: Resolved<MapRequest>, { maxAgeS }: FinishedFile): string {
  if (request.fences.length > 0) return cacheControlOfFences;
  return hasUploads ? cacheControlOfUploads : `public, max-age=${maxAgeS}`;
}
