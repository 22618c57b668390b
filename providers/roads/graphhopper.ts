/** GraphHopper over HTTP. Profiles have the names of the travel modes, but `motorcycle` for motorbikes. */
import Type from 'typebox';
import type { ApiError } from '../../schemas/errors.js';
import type { Position } from '../../schemas/json/common.js';
import type { TravelMode } from '../../schemas/json/constants.js';
import { refusal } from '../answer.js';
import { createJsonClient, type JsonResponse, shapeOf } from '../json-request.js';
import { boundsBoundary, isBounds } from './boundary.js';
import { Amount, type CallParameters, callParameters, type RoadEngine, unexpected } from './engine.js';
import {
  dateOf,
  type HttpEngineOptions,
  legsOf,
  Path,
  pathOf,
  rememberState,
  Table,
  unknownFailure,
  versionOf,
} from './http-engine.js';

/** Metres of its option `tolerance`, after its own choice. */
const tolerancesM = [undefined, 25, 50, 100, 200, 400];

const isRouteAnswer = shapeOf(
  Type.Object({
    paths: Type.Array(
      Type.Object({
        distance: Amount,
        time: Type.Number({ minimum: 0, description: 'Milliseconds' }),
        points: Type.Object({ coordinates: Path }),
      }),
    ),
  }),
);
const isMatrixAnswer = shapeOf(Type.Object({ distances: Table, times: Table }));

const profileOf = (mode: TravelMode): string => (mode === 'motorbike' ? 'motorcycle' : mode);
const latitudeFirst = ([longitude, latitude]: Position): string => `${latitude},${longitude}`;

const reasonOf = ({ body }: JsonResponse): string => {
  const { message } = (body ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : '';
};
const isNoRoad = (reason: string): boolean => /cannot find point|point not found|out of bounds/i.test(reason);
const isNoPath = (reason: string): boolean => /connection between locations not found/i.test(reason);

function failure(response: JsonResponse, { mode, place }: CallParameters): { ok: false; error: ApiError } {
  const reason = reasonOf(response);
  if (isNoRoad(reason)) return refusal('outside_road_data', 'the road data has no road near the point', place);
  if (/profile.*not (found|supported|available)|unknown profile|could not find .*profile/i.test(reason))
    return refusal('not_available', 'GraphHopper has no profile for this mode', mode);
  return unknownFailure(response.status, reason);
}

/** Creates the engine for a GraphHopper at `url`. An empty `apiKey` sends none. */
export function createGraphHopper({ url, apiKey, boundary, now }: HttpEngineOptions): RoadEngine {
  const base = url.replace(/\/+$/, '');
  const client = createJsonClient();
  const key: [string, string][] = apiKey === '' ? [] : [['key', apiKey]];
  const addressOf = (path: string, query: [string, string][]): string => {
    const text = new URLSearchParams([...query, ...key]).toString();
    return `${base}/${path}${text === '' ? '' : `?${text}`}`;
  };
  const avoidNothing = () => refusal('not_available', 'GraphHopper does not offer avoid', 'avoid');

  const state = rememberState(
    client,
    { url: addressOf('info', []) },
    ({ version, data_date, bbox } = {}) => {
      const known = boundary ?? (isBounds(bbox) ? boundsBoundary(bbox) : undefined);
      // An area that the edge of the data cuts would be stored without notice.
      if (known === undefined)
        return refusal(
          'unavailable',
          'GraphHopper does not tell in /info where its road data ends; try again later, or set routing.bounds',
        );
      return {
        ok: true,
        value: { version: versionOf(version), roadDataAt: dateOf(data_date), boundary: known },
      };
    },
    now,
  );

  return {
    name: 'graphhopper',
    tolerancesM,
    state,
    close: () => client.close(),

    async area({ center, minutes, mode, toleranceM }, { signal }) {
      const query: [string, string][] = [
        ['profile', profileOf(mode)],
        ['point', latitudeFirst(center)],
        ['time_limit', String(Math.round(minutes * 60))],
        // The time to the point, not from it.
        ['reverse_flow', 'true'],
        ['buckets', '1'],
        ['type', 'geojson'],
        ...(toleranceM === undefined ? [] : [['tolerance', String(toleranceM)] as [string, string]]),
      ];
      const response = await client.request({ url: addressOf('isochrone', query), signal });
      if (!response.ok) return response;
      if (response.value.status !== 200) return failure(response.value, callParameters.area);
      const { features, polygons } = (response.value.body ?? {}) as Record<string, { geometry?: unknown }[]>;
      return { ok: true, value: (features ?? polygons)?.[0]?.geometry };
    },

    async route({ origin, destination, mode, avoid }, { signal }) {
      if (avoid.length > 0) return avoidNothing();
      const query: [string, string][] = [
        ['profile', profileOf(mode)],
        ['point', latitudeFirst(origin)],
        ['point', latitudeFirst(destination)],
        ['points_encoded', 'false'],
        ['instructions', 'false'],
      ];
      const response = await client.request({ url: addressOf('route', query), signal });
      if (!response.ok) return response;
      const reason = reasonOf(response.value);
      if (isNoRoad(reason) || isNoPath(reason)) return { ok: true, value: null };
      if (response.value.status !== 200) return failure(response.value, callParameters.route);
      const { body: found } = response.value;
      if (!isRouteAnswer(found)) return unexpected('its answer has no route');
      const [path] = found.paths;
      if (path === undefined) return { ok: true, value: null };
      const { distance, time, points } = path;
      return { ok: true, value: { distanceM: distance, durationS: time / 1_000, path: pathOf(points.coordinates) } };
    },

    async matrix(request, { signal }) {
      if (request.avoid.length > 0) return avoidNothing();
      const body = {
        profile: profileOf(request.mode),
        from_points: request.origins,
        to_points: request.destinations,
        out_arrays: ['times', 'distances'],
        fail_fast: false,
      };
      const response = await client.request({ url: addressOf('matrix', []), method: 'POST', body, signal });
      if (!response.ok) return response;
      // The open-source server has no matrices.
      if (response.value.status === 404) return refusal('not_available', 'this GraphHopper has no route matrix');
      if (response.value.status !== 200) return failure(response.value, callParameters.matrix);
      const { body: found } = response.value;
      if (!isMatrixAnswer(found)) return unexpected('its answer has no matrix');
      return { ok: true, value: legsOf(request, found.distances, found.times) };
    },
  };
}
