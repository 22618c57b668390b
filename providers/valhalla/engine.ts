/**
 * Valhalla, embedded or over HTTP: both take and answer the same JSON.
 */
import Type from 'typebox';
import type { Position } from '../../schemas/json/common.js';
import type { TravelMode } from '../../schemas/json/constants.js';
import { type Answer, refusal, shownReason } from '../answer.js';
import { shapeOf } from '../json-request.js';
import {
  Amount,
  AmountOrNull,
  type CallParameters,
  callParameters,
  type EngineState,
  type RoadEngine,
  unexpected,
} from '../roads/engine.js';
import { decodePolyline } from '../routes/polyline.js';
import type { Avoidable, Leg } from '../routes/provider.js';
import type { TimeLimit } from '../time-limit.js';

/** The calls of Valhalla that are used, by its own names. */
export type ValhallaAction = 'isochrone' | 'route' | 'matrix' | 'locate' | 'status';

/** The parsed answer, or Valhalla's error. `error` answers that Valhalla could not be asked. */
type ValhallaResult =
  | { readonly kind: 'answer'; readonly body: unknown }
  | { readonly kind: 'refused'; readonly reason: string };

/** Sends one request. */
export type Valhalla = (action: ValhallaAction, request: object, limit: TimeLimit) => Promise<Answer<ValhallaResult>>;

const costings: Readonly<Record<TravelMode, string>> = {
  car: 'auto',
  truck: 'truck',
  foot: 'pedestrian',
  bike: 'bicycle',
  motorbike: 'motorcycle',
};
const preferences: Readonly<Record<Avoidable, string>> = {
  tolls: 'use_tolls',
  highways: 'use_highways',
  ferries: 'use_ferry',
};

/** Metres from a point to the road that it is assigned to. Valhalla's default is 35 km. */
const searchCutoffM = 500;
/** Metres of Valhalla's option `generalize`, after its own choice. */
const tolerancesM = [undefined, 10, 25, 50, 100, 200, 400];

const isNoRoad = (reason: string): boolean =>
  /No suitable edges near location|Locations are in unconnected/i.test(reason);
const isNoPath = (reason: string): boolean => /No path could be found|unreachable/i.test(reason);
const isTooFar = (reason: string): boolean => /exceeds the max distance|Exceeded max/i.test(reason);

const located = ([lon, lat]: Position) => ({ lon, lat, search_cutoff: searchCutoffM });

const travel = (mode: TravelMode, avoid: readonly Avoidable[]) => ({
  costing: costings[mode],
  ...(avoid.length > 0 && {
    costing_options: { [costings[mode]]: Object.fromEntries(avoid.map((what) => [preferences[what], 0])) },
  }),
});

const isRouteAnswer = shapeOf(
  Type.Object({
    trip: Type.Object({
      legs: Type.Array(Type.Object({ summary: Type.Object({ time: Amount, length: Amount }), shape: Type.String() }), {
        minItems: 1,
      }),
    }),
  }),
);
const Index = Type.Integer({ minimum: 0 });
const isMatrixAnswer = shapeOf(
  Type.Object({
    sources_to_targets: Type.Array(
      Type.Array(Type.Object({ from_index: Index, to_index: Index, time: AmountOrNull, distance: AmountOrNull })),
    ),
  }),
);
const isLocateAnswer = shapeOf(
  Type.Array(Type.Object({ edges: Type.Optional(Type.Union([Type.Array(Type.Unknown()), Type.Null()])) })),
);

/** Valhalla refuses the same request again, so callers must not send it again. */
const refused = (reason: string) =>
  refusal('not_available', `the provider of road data refused the request: ${shownReason(reason)}`);
const tooFar = ({ place }: CallParameters) =>
  refusal('invalid_parameter', 'the points are too far apart for the provider', place);

/** Creates an engine from a way to ask Valhalla. Converts requests, answers and refusals. */
export function createValhallaEngine(options: {
  readonly name: string;
  readonly ask: Valhalla;
  readonly state: () => Promise<Answer<EngineState>>;
  readonly close: () => Promise<void>;
}): RoadEngine {
  const { name, ask, state, close } = options;

  return {
    name,
    tolerancesM,
    state,
    close,

    async area({ center, minutes, mode, toleranceM }, limit) {
      const request = {
        locations: [located(center)],
        costing: costings[mode],
        contours: [{ time: minutes }],
        polygons: true,
        // The time to the point, not from it.
        reverse: true,
        denoise: 1,
        ...(toleranceM !== undefined && { generalize: toleranceM }),
      };
      const result = await ask('isochrone', request, limit);
      if (!result.ok) return result;
      if (result.value.kind === 'answer') return { ok: true, value: firstGeometry(result.value.body) };
      const { reason } = result.value;
      return isNoRoad(reason)
        ? refusal(
            'outside_road_data',
            `the road data has no road within ${searchCutoffM} m of the point`,
            callParameters.area.place,
          )
        : refused(reason);
    },

    async route({ origin, destination, mode, avoid }, limit) {
      const request = {
        locations: [located(origin), located(destination)],
        ...travel(mode, avoid),
        units: 'kilometers',
        directions_type: 'none',
      };
      const result = await ask('route', request, limit);
      if (!result.ok) return result;
      if (result.value.kind === 'refused') {
        const { reason } = result.value;
        if (isNoRoad(reason) || isNoPath(reason)) return { ok: true, value: null };
        return isTooFar(reason) ? tooFar(callParameters.route) : refused(reason);
      }
      const { body } = result.value;
      if (!isRouteAnswer(body)) return unexpected('its answer has no route');
      const { summary, shape } = body.trip.legs[0]!;
      const path = decodePolyline(shape, 6);
      return { ok: true, value: { distanceM: summary.length * 1_000, durationS: summary.time, path } };
    },

    async matrix(query, limit) {
      const { origins, destinations, mode } = query;
      const everywhere = { origins: [...origins.keys()], destinations: [...destinations.keys()] };
      const all = await legsAmong(ask, query, everywhere, limit);
      if (!all.ok || all.value !== 'no road') return all as Answer<Legs>;
      const near = await ask(
        'locate',
        { locations: [...origins, ...destinations].map(located), costing: costings[mode], verbose: false },
        limit,
      );
      if (!near.ok) return near;
      if (near.value.kind === 'refused') return { ok: true, value: noLegs(query) };
      const { body } = near.value;
      if (!isLocateAnswer(body)) return unexpected('its answer has no places');
      const hasRoad = body.map(({ edges }) => (edges?.length ?? 0) > 0);
      const withRoad = {
        origins: everywhere.origins.filter((index) => hasRoad[index]),
        destinations: everywhere.destinations.filter((index) => hasRoad[origins.length + index]),
      };
      const some = await legsAmong(ask, query, withRoad, limit);
      return some.ok && some.value === 'no road' ? { ok: true, value: noLegs(query) } : (some as Answer<Legs>);
    },
  };
}

type MatrixQuery = Parameters<RoadEngine['matrix']>[0];
type Legs = (Leg | null)[][];

const noLegs = ({ origins, destinations }: MatrixQuery): Legs => origins.map(() => destinations.map(() => null));

/**
 * Asks for the legs between the places with these indices; the others have none. Places without a road fail the whole
 * request, so callers leave them out.
 */
async function legsAmong(
  ask: Valhalla,
  query: MatrixQuery,
  among: { readonly origins: readonly number[]; readonly destinations: readonly number[] },
  limit: TimeLimit,
): Promise<Answer<Legs | 'no road'>> {
  const { origins, destinations, mode, avoid } = query;
  const legs = noLegs(query);
  if (among.origins.length === 0 || among.destinations.length === 0) return { ok: true, value: legs };
  const request = {
    sources: among.origins.map((index) => located(origins[index]!)),
    targets: among.destinations.map((index) => located(destinations[index]!)),
    ...travel(mode, avoid),
    units: 'kilometers',
  };
  const result = await ask('matrix', request, limit);
  if (!result.ok) return result;
  if (result.value.kind === 'refused') {
    const { reason } = result.value;
    if (isNoRoad(reason)) return { ok: true, value: 'no road' };
    if (isNoPath(reason)) return { ok: true, value: legs };
    return isTooFar(reason) ? tooFar(callParameters.matrix) : refused(reason);
  }
  const { body } = result.value;
  if (!isMatrixAnswer(body)) return unexpected('its answer has no matrix');
  for (const { from_index, to_index, time, distance } of body.sources_to_targets.flat()) {
    const row = legs[among.origins[from_index] ?? -1];
    const to = among.destinations[to_index];
    if (row === undefined || to === undefined) return unexpected('its matrix has other places');
    const isReached = time !== null && distance !== null;
    row[to] = isReached ? { durationS: time, distanceM: distance * 1_000 } : null;
  }
  return { ok: true, value: legs };
}

const firstGeometry = (body: unknown): unknown =>
  (body as { features?: { geometry?: unknown }[] } | null)?.features?.[0]?.geometry;
