/** The interface of providers of routes: how far and how long it is from place to place. */
import type { Position } from '../../schemas/json/common.js';
import type { TravelMode } from '../../schemas/json/constants.js';
import type { Answer } from '../answer.js';

/** What a route can avoid. */
export const avoidable = ['tolls', 'highways', 'ferries'] as const;
/** What a route can avoid, as the SDKs name it. */
export type Avoidable = (typeof avoidable)[number];

/** The way by road from one point to another. The duration knows no traffic. */
export interface Leg {
  readonly distanceM: number;
  readonly durationS: number;
}

/** A route by road, with the line to draw. */
export interface Route extends Leg {
  readonly path: readonly Position[];
}

interface Travel {
  /** Id of the project, among which the provider's capacity is shared. */
  readonly project: string;
  readonly mode: TravelMode;
  /** Taken only where there is no other way. */
  readonly avoid: readonly Avoidable[];
}

/** A route from one position to another. */
export interface RouteRequest extends Travel {
  readonly origin: Position;
  readonly destination: Position;
}

/** All ways from each origin to each destination. */
export interface MatrixRequest extends Travel {
  readonly origins: readonly Position[];
  readonly destinations: readonly Position[];
}

/** Errors are those of isochrones, but places that no road connects are not an error: their route is null. */
export interface RouteProvider {
  route(request: RouteRequest): Promise<Answer<Route | null>>;
  /** Returns a row for each origin, with a leg to each destination. */
  matrix(request: MatrixRequest): Promise<Answer<(Leg | null)[][]>>;
}
