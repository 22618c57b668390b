/** The interface of routing engines, each an adapter to one product, without limits of its own. */
import Type from 'typebox';
import type { Position } from '../../schemas/json/common.js';
import type { TravelMode } from '../../schemas/json/constants.js';
import { type Answer, refusal } from '../answer.js';
import type { Leg, MatrixRequest, Route, RouteRequest } from '../routes/provider.js';
import type { TimeLimit } from '../time-limit.js';
import type { RoadBoundary } from './boundary.js';

/** The known state of an engine and its data. */
export interface EngineState {
  readonly version: string | null;
  /** Date of the road data, epoch ms. */
  readonly roadDataAt: number | null;
  /** Undefined if it is not known where the data ends. */
  readonly boundary: RoadBoundary | undefined;
}

interface AreaRequest {
  readonly center: Position;
  readonly minutes: number;
  readonly mode: TravelMode;
  /** Metres by which the area may be simplified; undefined leaves it to the engine. */
  readonly toleranceM: number | undefined;
}

/** The parameters that callers give, by method. Errors name them. */
export const callParameters = {
  area: { mode: 'mode', place: 'coordinates' },
  route: { mode: 'modes', place: 'destination' },
  matrix: { mode: 'mode', place: 'destinations' },
} as const;
/** The parameters that an error of one kind of call may name. */
export type CallParameters = (typeof callParameters)[keyof typeof callParameters];

/** Metres, kilometres or seconds in the answer of an engine. */
export const Amount = Type.Number({ minimum: 0 });
/** The same in a matrix; null where there is no route. */
export const AmountOrNull = Type.Union([Amount, Type.Null()]);

/** Returns the error for an answer of another shape. */
export const unexpected = (reason: string): ReturnType<typeof refusal> =>
  refusal('unavailable', `the provider of road data failed: ${reason}`);

/** Methods stop at the time limit; their answers must then be ignored. */
export interface RoadEngine {
  readonly name: string;
  /** Tolerances that are worth trying, in this order. */
  readonly tolerancesM: readonly (number | undefined)[];
  /** Answers `not_available` while there is no road data. */
  state(): Promise<Answer<EngineState>>;
  /** Returns the GeoJSON geometry from which the centre is reached in time. */
  area(request: AreaRequest, limit: TimeLimit): Promise<Answer<unknown>>;
  route(request: Omit<RouteRequest, 'project'>, limit: TimeLimit): Promise<Answer<Route | null>>;
  matrix(request: Omit<MatrixRequest, 'project'>, limit: TimeLimit): Promise<Answer<(Leg | null)[][]>>;
  close(): Promise<void>;
}
