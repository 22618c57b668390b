/** Converts stored places to the API's JSON. */
import type { Place, PlaceRecord, PlaceSummary } from '../json/place.js';
import { isoTime, point, withoutUnset } from './common.js';

/** Returns the place as the API answers it. */
export const placeJson = (record: PlaceRecord): Place => ({
  _id: record.placeId,
  live: record.environment === 'live',
  createdAt: isoTime(record.createdAt),
  updatedAt: isoTime(record.updatedAt),
  name: record.name,
  categories: record.categories,
  ...withoutUnset({ chain: record.chain, address: record.address, metadata: record.metadata }),
  location: point(...record.center),
  geometry: record.ring === null ? point(...record.center) : { type: 'Polygon', coordinates: [record.ring] },
});

/** Returns the place as a result of a search, with its distance in metres. */
export const placeSummary = (record: PlaceRecord, distanceM: number): PlaceSummary => ({
  _id: record.placeId,
  name: record.name,
  categories: record.categories,
  ...withoutUnset({
    chain: record.chain,
    address: record.address === null ? null : { formattedAddress: record.address },
  }),
  location: point(...record.center),
  distance: Math.round(distanceM),
});
