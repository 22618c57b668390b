/** The interface of providers of isochrones: the area from which a point is reached within a travel time. */
import type { Position } from '../../schemas/json/common.js';
import type { TravelMode } from '../../schemas/json/constants.js';
import type { IsochroneSource } from '../../schemas/json/geofence.js';
import type { Answer } from '../answer.js';

/** The area from which a destination is reached in time. */
export interface IsochroneRequest {
  /** Id of the project, among which the provider's capacity is shared. */
  readonly project: string;
  /** The destination. */
  readonly center: Position;
  readonly minutes: number;
  readonly mode: TravelMode;
}

/** An area by travel time, and the road data from which it was computed. */
export interface Isochrone {
  /** Valid and closed, of at most 2,000 vertices; contains the destination. */
  readonly ring: Position[];
  readonly source: IsochroneSource;
}

/**
 * Computes the area from which the destination is reached in time. Answers `outside_road_data` if no road is near the
 * destination or the edge of the data cuts the area. Answers `not_available` if the provider does not offer the mode,
 * `overloaded` if too many requests wait, and `unavailable` if it does not answer. Does not throw for these.
 */
export type IsochroneProvider = (request: IsochroneRequest) => Promise<Answer<Isochrone>>;
