/** The area of an isochrone before a geofence has it: what a page shows while its user chooses minutes and mode. */
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { answerOf, described, success } from '../../http/describe.js';
import { accepted, FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import type { IsochroneRequest } from '../../providers/isochrones/provider.js';
import { ApiError } from '../../schemas/errors.js';
import { Polygon, type Position } from '../../schemas/json/common.js';
import { type TravelMode, travelModes } from '../../schemas/json/constants.js';
import { maxIsochroneMinutes, minIsochroneMinutes, ShownIsochroneSource } from '../../schemas/json/geofence.js';
import { shownIsochrone } from '../../schemas/wire/geofence.js';
import type { GeometrySources } from '../dependencies.js';
import { noRoads } from './geometry.js';

const minutesRange = { minimum: minIsochroneMinutes, maximum: maxIsochroneMinutes };

/** Named as the fields of a geofence, so that a form shows each problem at its field. */
const parameters = Type.Object({
  coordinates: Type.String({ description: 'The destination: latitude,longitude in degrees' }),
  radius: Type.Number({ ...minutesRange, description: 'Minutes' }),
  mode: Type.Enum([...travelModes]),
});

function readQuery(query: RawFields): Outcome<Omit<IsochroneRequest, 'project'>> {
  const reader = new FieldReader(query);
  const center = reader.required('coordinates', reader.latitudeLongitude('coordinates'));
  const minutes = reader.required('radius', reader.number('radius', { ...minutesRange, unit: 'minutes' }));
  const mode = reader.requiredChoice('mode', travelModes);
  return reader.outcome(() => ({ center: center as Position, minutes: minutes as number, mode: mode as TravelMode }));
}

/** Serves GET /v1/route/isochrone. Throws `not_available` when no routing is configured. */
export const isochroneRoute =
  ({ geometrySources }: { readonly geometrySources: GeometrySources }): FastifyPluginAsync =>
  async (app) => {
    app.get('/v1/route/isochrone', {
      config: { authority: 'secret', limit: 'query' },
      schema: described({
        operationId: 'getIsochrone',
        tag: 'routes',
        summary: 'Calculate the area from which a destination is reached within a travel time, without traffic',
        description: 'It is what a geofence of type `isochrone` would have. Nothing is stored.',
        querystring: parameters,
        answer: answerOf({ isochrone: Type.Object({ geometry: Polygon, source: ShownIsochroneSource }) }),
      }),
      handler: async (request) => {
        const { project } = callerOf(request);
        const asked = accepted(readQuery(request.query as RawFields));
        if (geometrySources.isochrones === undefined) throw new ApiError('not_available', noRoads);
        const { ring, source } = accepted(await geometrySources.isochrones({ project, ...asked }));
        const geometry = { type: 'Polygon', coordinates: [ring] };
        return { meta: success, isochrone: { geometry, source: shownIsochrone(source) } };
      },
    });
  };
