/** Route distances and matrices, in the wire format of the SDKs. */
import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { success } from '../../http/describe.js';
import { accepted, FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { readLatitudeLongitude } from '../../http/fields/structures.js';
import { geodesicDistance } from '../../providers/routes/geodesic.js';
import { pathThrough } from '../../providers/routes/path.js';
import { encodePolyline } from '../../providers/routes/polyline.js';
import {
  type Avoidable,
  avoidable,
  type Leg,
  type MatrixRequest,
  type Route,
  type RouteProvider,
} from '../../providers/routes/provider.js';
import { ApiError } from '../../schemas/errors.js';
import { Meta, type Position } from '../../schemas/json/common.js';
import { type TravelMode, travelModes } from '../../schemas/json/constants.js';
import type { SdkDependencies } from './dependencies.js';
import { isFromIos } from './ios.js';
import { shownDistance, shownDuration, type Units, units } from './measures.js';

const geometries = ['linestring', 'polyline', 'polyline5', 'polyline6'] as const;
type Geometry = (typeof geometries)[number];

/** Of each list of a matrix. */
const maxPlaces = 25;
const maxGeometryPoints = 2_000;

const Measure = Type.Object({ value: Type.Number(), text: Type.String() });
const Distance = Type.Object(Measure.properties, { description: 'Metres, or feet in imperial units' });
const Duration = Type.Object(Measure.properties, { description: 'Minutes' });
const RouteAnswer = Type.Object({
  distance: Distance,
  duration: Type.Optional(Duration),
  geometry: Type.Optional(Type.Unknown({ description: 'GeoJSON LineString, or an encoded polyline' })),
});
const unitsParameter = Type.Optional(Type.Enum([...units], { default: 'metric' }));
const avoidParameter = Type.Optional(Type.String({ description: `Comma-separated: ${avoidable.join(', ')}` }));

const DistanceQuery = Type.Object({
  origin: Type.String({ description: 'latitude,longitude in degrees' }),
  destination: Type.String({ description: 'latitude,longitude in degrees' }),
  modes: Type.Optional(Type.String({ default: 'car', description: `Comma-separated: ${travelModes.join(', ')}` })),
  units: unitsParameter,
  avoid: avoidParameter,
  geometry: Type.Optional(Type.Enum([...geometries], { description: 'Absent: no geometry' })),
  geometryPoints: Type.Optional(
    Type.Integer({ minimum: 2, maximum: maxGeometryPoints, description: 'Points of the geometry, evenly spaced' }),
  ),
});
const DistanceAnswer = Type.Object({
  meta: Meta,
  routes: Type.Object(
    {
      geodesic: RouteAnswer,
      ...Object.fromEntries(travelModes.map((mode) => [mode, Type.Optional(RouteAnswer)])),
    },
    { description: 'By mode. A mode without a route is absent' },
  ),
});
const MatrixQuery = Type.Object({
  origins: Type.String({ description: `At most ${maxPlaces}: latitude,longitude|latitude,longitude` }),
  destinations: Type.String({ description: `At most ${maxPlaces}: latitude,longitude|latitude,longitude` }),
  mode: Type.Optional(Type.Enum([...travelModes], { default: 'car' })),
  units: unitsParameter,
  avoid: avoidParameter,
});
const Place = Type.Object({ latitude: Type.Number(), longitude: Type.Number() });
const MatrixAnswer = Type.Object({
  meta: Meta,
  origins: Type.Array(Place),
  destinations: Type.Array(Place),
  matrix: Type.Array(
    Type.Array(
      Type.Object({
        originIndex: Type.Integer(),
        destinationIndex: Type.Integer(),
        distance: Type.Optional(Distance),
        duration: Type.Optional(Duration),
      }),
    ),
    {
      description:
        'A row for each origin. Without a route, distance and duration are absent, or have value -1 for the iOS SDK',
    },
  ),
});

interface Shown {
  readonly units: Units;
  readonly geometry: Geometry | null;
  readonly points: number | null;
}
interface DistanceRequest extends Shown {
  readonly origin: Position;
  readonly destination: Position;
  readonly modes: readonly TravelMode[];
  readonly avoid: readonly Avoidable[];
}

/** Reads a comma-separated list of words. */
function words<const Word extends string>(reader: FieldReader, name: string, allowed: readonly Word[]): Word[] {
  const given = (reader.list(name) ?? []).map((item) => String(item).trim().toLowerCase());
  const known = allowed.filter((word) => given.includes(word));
  if (given.some((word) => !(allowed as readonly string[]).includes(word)))
    reader.refuse(name, `must be some of ${allowed.join(', ')}`);
  return known;
}

function readDistanceQuery(query: RawFields): Outcome<DistanceRequest> {
  const reader = new FieldReader(query);
  const origin = reader.required('origin', reader.latitudeLongitude('origin'));
  const destination = reader.required('destination', reader.latitudeLongitude('destination'));
  const modes = words(reader, 'modes', travelModes);
  const shownUnits = reader.choice('units', units) ?? 'metric';
  const avoid = words(reader, 'avoid', avoidable);
  const geometry = reader.choice('geometry', geometries);
  const points = reader.integer('geometryPoints', { minimum: 2, maximum: maxGeometryPoints });
  return reader.outcome(() => ({
    origin: origin as Position,
    destination: destination as Position,
    modes: modes.length > 0 ? modes : ['car'],
    units: shownUnits,
    avoid,
    geometry,
    points,
  }));
}

function readPlaces(reader: FieldReader, name: string): Position[] {
  const text = reader.requiredText(name, 4_096);
  const places = text.split('|').filter((place) => place.trim() !== '');
  if (places.length === 0 || places.length > maxPlaces) reader.refuse(name, `must be 1 to ${maxPlaces} places`);
  return places.slice(0, maxPlaces).flatMap((place) => {
    const position = reader.take(readLatitudeLongitude(name, place));
    return position ? [position] : [];
  });
}

function readMatrixQuery(query: RawFields): Outcome<Omit<MatrixRequest, 'project'> & Pick<Shown, 'units'>> {
  const reader = new FieldReader(query);
  const origins = readPlaces(reader, 'origins');
  const destinations = readPlaces(reader, 'destinations');
  const mode = reader.choice('mode', travelModes) ?? 'car';
  const shownUnits = reader.choice('units', units) ?? 'metric';
  const avoid = words(reader, 'avoid', avoidable);
  return reader.outcome(() => ({ origins, destinations, mode, units: shownUnits, avoid }));
}

const legJson = ({ distanceM, durationS }: Leg, shown: Units) => ({
  distance: shownDistance(distanceM, shown),
  duration: shownDuration(durationS),
});

function geometryJson(path: readonly Position[], { geometry, points }: Shown): object {
  if (geometry === null) return {};
  const shown = points === null ? path : pathThrough(path, points);
  if (geometry === 'linestring') return { geometry: { type: 'LineString', coordinates: shown } };
  const digits = geometry === 'polyline6' ? 6 : 5;
  return { geometry: { type: 'Polyline', polyline: encodePolyline(shown, digits) } };
}

const routeJson = (route: Route, shown: Shown) => ({
  ...legJson(route, shown.units),
  ...geometryJson(route.path, shown),
});
/** The SDK for iOS ends its app at a cell without distance and duration. A negative value is no distance. */
const noRoute = { value: -1, text: '' };
const cellWithoutRoute = (request: FastifyRequest) =>
  isFromIos(request) ? { distance: noRoute, duration: noRoute } : {};

const placeJson = ([longitude, latitude]: Position) => ({ latitude, longitude });

function configured(routes: RouteProvider | undefined): RouteProvider {
  if (routes) return routes;
  throw new ApiError('not_available', 'routes need road data: set routing.provider and routing.url');
}

/** Serves GET /v1/route/distance and /v1/route/matrix. Throws `not_available` when no routing is configured. */
export const travelRoutes: FastifyPluginAsync<Pick<SdkDependencies, 'routes'>> = async (app, { routes }) => {
  const config = { authority: 'publishable', limit: 'query', isNullUnset: true } as const;

  app.get(
    '/v1/route/distance',
    {
      config,
      schema: {
        summary: 'Calculate travel distance and time between two places, without traffic',
        tags: ['routes'],
        querystring: DistanceQuery,
        response: { 200: DistanceAnswer },
      },
    },
    async (request) => {
      const { project } = callerOf(request);
      const { modes, ...travel } = accepted(readDistanceQuery(request.query as RawFields));
      const { origin, destination, avoid } = travel;
      const provider = configured(routes);
      const found = await Promise.all(
        modes.map(async (mode) => {
          const route = accepted(await provider.route({ project, origin, destination, mode, avoid }));
          return [mode, route && routeJson(route, travel)] as const;
        }),
      );
      const geodesic = {
        distance: shownDistance(geodesicDistance(origin, destination), travel.units),
        ...geometryJson([origin, destination], { ...travel, points: null }),
      };
      const byMode = Object.fromEntries(found.filter(([, route]) => route !== null));
      return { meta: success, routes: { geodesic, ...byMode } };
    },
  );

  app.get(
    '/v1/route/matrix',
    {
      config,
      schema: {
        summary: 'Calculate travel distances and times between several places, without traffic',
        tags: ['routes'],
        querystring: MatrixQuery,
        response: { 200: MatrixAnswer },
      },
    },
    async (request) => {
      const { project } = callerOf(request);
      const { units: shown, ...travel } = accepted(readMatrixQuery(request.query as RawFields));
      const empty = cellWithoutRoute(request);
      const rows = accepted(await configured(routes).matrix({ project, ...travel }));
      return {
        meta: success,
        origins: travel.origins.map(placeJson),
        destinations: travel.destinations.map(placeJson),
        matrix: rows.map((row, originIndex) =>
          row.map((leg, destinationIndex) => ({
            originIndex,
            destinationIndex,
            ...(leg ? legJson(leg, shown) : empty),
          })),
        ),
      };
    },
  );
};
