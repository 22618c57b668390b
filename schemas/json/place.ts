/** JSON Schemas of places: the stored record and the API's representation. */
import Type, { type Static } from 'typebox';
import { Environment, Id, Metadata, Point, Polygon, Position, Timestamp } from './common.js';

/** Most categories of a place. */
export const maxPlaceCategories = 20;

/** The brand that a place belongs to. `slug` names it in filters. */
export const PlaceChain = Type.Object({ slug: Type.String(), name: Type.String() }, { additionalProperties: false });
export type PlaceChain = Static<typeof PlaceChain>;

/**
 * A place of an environment's catalogue as topic `changes` and the read model store it. Times are epoch milliseconds;
 * `null` means not set. `placeId` is the `_id` that the owner gave. `ring` is the closed ring of a polygon; a point has
 * none, and no `radius`. `geometryHash` is equal for equal geometries.
 */
export const PlaceRecord = Type.Object(
  {
    _id: Id,
    project: Id,
    environment: Environment,
    createdAt: Type.Integer(),
    updatedAt: Type.Integer(),
    placeId: Type.String({ minLength: 1 }),
    name: Type.String({ minLength: 1 }),
    categories: Type.Array(Type.String()),
    chain: Type.Union([PlaceChain, Type.Null()]),
    address: Type.Union([Type.String(), Type.Null()]),
    metadata: Type.Union([Metadata, Type.Null()]),
    center: Position,
    ring: Type.Union([Type.Array(Position), Type.Null()]),
    radius: Type.Union([Type.Number({ description: 'Metres from the centre to the furthest vertex' }), Type.Null()]),
    geometryHash: Type.String(),
  },
  { additionalProperties: false },
);
export type PlaceRecord = Static<typeof PlaceRecord>;

/** A place as the API returns it. Fields that are not set are absent. */
export const Place = Type.Object(
  {
    _id: Type.String({ description: 'As the catalogue names the place' }),
    live: Type.Boolean(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    name: Type.String(),
    categories: Type.Array(Type.String()),
    chain: Type.Optional(PlaceChain),
    address: Type.Optional(Type.String()),
    metadata: Type.Optional(Metadata),
    location: Point,
    geometry: Type.Union([Point, Polygon]),
  },
  { $id: 'Place', description: 'A place of the catalogue' },
);
export type Place = Static<typeof Place>;

/** A place as SDKs search it: without what owners attach. */
export const PlaceSummary = Type.Object(
  {
    _id: Type.String(),
    name: Type.String(),
    categories: Type.Array(Type.String()),
    chain: Type.Optional(PlaceChain),
    address: Type.Optional(Type.Object({ formattedAddress: Type.String() })),
    location: Point,
    distance: Type.Number({ description: 'Metres from the centre of the search to the centre of the place' }),
  },
  { $id: 'PlaceSummary' },
);
export type PlaceSummary = Static<typeof PlaceSummary>;
