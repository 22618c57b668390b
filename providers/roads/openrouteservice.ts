/** openrouteservice over HTTP. */
import Type from 'typebox';
import type { ApiError } from '../../schemas/errors.js';
import type { TravelMode } from '../../schemas/json/constants.js';
import { type Answer, refusal } from '../answer.js';
import { createJsonClient, type JsonResponse, shapeOf } from '../json-request.js';
import type { Avoidable } from '../routes/provider.js';
import { Amount, type CallParameters, callParameters, type RoadEngine, unexpected } from './engine.js';
import {
  dateOf,
  type HttpEngineOptions,
  legsOf,
  Path,
  pathOf,
  rememberState,
  type Said,
  Table,
  unknownFailure,
  versionOf,
} from './http-engine.js';

const profiles: Readonly<Record<TravelMode, string | undefined>> = {
  car: 'driving-car',
  truck: 'driving-hgv',
  foot: 'foot-walking',
  bike: 'cycling-regular',
  motorbike: undefined,
};
const features: Readonly<Record<Avoidable, string>> = { tolls: 'tollways', highways: 'highways', ferries: 'ferries' };

/** Its option `smoothing` goes from 0 to 100 and has no unit. */
const tolerancesM = [undefined, 250, 500];
const maxToleranceM = 500;

const isRouteAnswer = shapeOf(
  Type.Object({
    features: Type.Array(
      Type.Object({
        properties: Type.Optional(
          Type.Object({
            summary: Type.Optional(Type.Object({ distance: Type.Optional(Amount), duration: Type.Optional(Amount) })),
          }),
        ),
        geometry: Type.Object({ coordinates: Path }),
      }),
    ),
  }),
);
const isMatrixAnswer = shapeOf(Type.Object({ distances: Table, durations: Table }));

const notOffered = (what: string, param: string) =>
  refusal('not_available', `openrouteservice does not offer ${what}`, param);

/** Creates the engine for an openrouteservice at `url`. An empty `apiKey` sends none. */
export function createOpenRouteService({ url, apiKey, boundary, now }: HttpEngineOptions): RoadEngine {
  const base = url.replace(/\/+$/, '');
  const client = createJsonClient();
  const headers = apiKey === '' ? {} : { authorization: apiKey };

  const post = (path: string, body: object, signal: AbortSignal) =>
    client.request({ url: `${base}/v2/${path}`, method: 'POST', headers, body, signal });

  /** Returns the error for an answer that is not 200. */
  function failure({ status, body }: JsonResponse, { place }: CallParameters): { ok: false; error: ApiError } {
    const { message } = ((body as { error?: unknown } | null)?.error ?? {}) as { message?: unknown };
    const reason = typeof message === 'string' ? message : '';
    if (/could not find routable point|unable to build an isochrone/i.test(reason))
      return refusal('outside_road_data', 'the road data has no road near the point', place);
    if (/exceeds? .*(distance|limit)/i.test(reason))
      return refusal('invalid_parameter', 'the points are too far apart for the provider', place);
    return unknownFailure(status, reason);
  }

  const state = rememberState(
    client,
    { url: `${base}/v2/status`, headers },
    (said) => {
      const { version, graph_date } = (said?.engine ?? {}) as Said;
      return { ok: true, value: { version: versionOf(version), roadDataAt: dateOf(graph_date), boundary } };
    },
    now,
  );

  return {
    name: 'openrouteservice',
    tolerancesM,
    state,
    close: () => client.close(),

    async area({ center, minutes, mode, toleranceM }, { signal }) {
      const profile = profiles[mode];
      if (profile === undefined) return notOffered(`mode ${mode}`, callParameters.area.mode);
      const response = await post(
        `isochrones/${profile}`,
        {
          locations: [center],
          range: [minutes * 60],
          range_type: 'time',
          // The time to the point, not from it.
          location_type: 'destination',
          ...(toleranceM !== undefined && { smoothing: (100 * toleranceM) / maxToleranceM }),
        },
        signal,
      );
      if (!response.ok) return response;
      if (response.value.status !== 200) return failure(response.value, callParameters.area);
      const { features: areas } = (response.value.body ?? {}) as { features?: { geometry?: unknown }[] };
      return { ok: true, value: areas?.[0]?.geometry };
    },

    async route({ origin, destination, mode, avoid }, { signal }) {
      const profile = profiles[mode];
      if (profile === undefined) return notOffered(`mode ${mode}`, callParameters.route.mode);
      const options = avoid.length > 0 && { options: { avoid_features: avoid.map((what) => features[what]) } };
      const body = { coordinates: [origin, destination], instructions: false, ...options };
      const response = await post(`directions/${profile}/geojson`, body, signal);
      if (!response.ok) return response;
      if (response.value.status !== 200) return orNull(failure(response.value, callParameters.route), response.value);
      const { body: found } = response.value;
      if (!isRouteAnswer(found)) return unexpected('its answer has no route');
      const [route] = found.features;
      if (route === undefined) return { ok: true, value: null };
      // A route from a place to itself has no numbers.
      const { distance = 0, duration = 0 } = route.properties?.summary ?? {};
      return {
        ok: true,
        value: { distanceM: distance, durationS: duration, path: pathOf(route.geometry.coordinates) },
      };
    },

    async matrix(request, { signal }) {
      const { origins, destinations, mode, avoid } = request;
      const profile = profiles[mode];
      if (profile === undefined) return notOffered(`mode ${mode}`, callParameters.matrix.mode);
      if (avoid.length > 0) return notOffered('avoid for a matrix', 'avoid');
      const body = {
        locations: [...origins, ...destinations],
        sources: [...origins.keys()],
        destinations: [...destinations.keys()].map((index) => origins.length + index),
        metrics: ['distance', 'duration'],
      };
      const response = await post(`matrix/${profile}`, body, signal);
      if (!response.ok) return response;
      if (response.value.status !== 200) return failure(response.value, callParameters.matrix);
      const { body: found } = response.value;
      if (!isMatrixAnswer(found)) return unexpected('its answer has no matrix');
      return { ok: true, value: legsOf(request, found.distances, found.durations) };
    },
  };
}

/** A route that does not exist is not an error. */
function orNull<T>(failed: Answer<T>, { body }: JsonResponse): Answer<T | null> {
  const { code } = ((body as { error?: unknown } | null)?.error ?? {}) as { code?: unknown };
  const isNoRoute = code === 2009 || (!failed.ok && failed.error.code === 'outside_road_data');
  return isNoRoute ? { ok: true, value: null } : failed;
}
