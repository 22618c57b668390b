/**
 * Makes a provider of isochrones and routes of an engine: shares its capacity, checks its answers, names the source.
 */
import type { Position } from '../../schemas/json/common.js';
import type { TravelMode } from '../../schemas/json/constants.js';
import { type Answer, refusal } from '../answer.js';
import type { Isochrone, IsochroneProvider } from '../isochrones/provider.js';
import type { Route, RouteProvider } from '../routes/provider.js';
import type { TimeLimit } from '../time-limit.js';
import { type CapacityLimits, createCapacity } from './capacity.js';
import { type RoadEngine, unexpected } from './engine.js';
import { findRing } from './ring.js';

/** The isochrones and routes of one engine, which share its capacity. */
export interface RoadProvider {
  readonly isochrones: IsochroneProvider;
  readonly routes: RouteProvider;
  close(): Promise<void>;
}

/**
 * Creates the provider of an engine, within limits.
 * @param clock epoch ms.
 */
export function createRoadProvider(engine: RoadEngine, limits: CapacityLimits, clock: () => number): RoadProvider {
  const capacity = createCapacity(limits);

  async function compute(
    request: { readonly center: Position; readonly minutes: number; readonly mode: TravelMode },
    limit: TimeLimit,
  ): Promise<Answer<Isochrone>> {
    const state = await engine.state();
    if (!state.ok) return state;
    const { version, roadDataAt, boundary } = state.value;
    if (boundary && !boundary(request.center, 0))
      return refusal('outside_road_data', 'the road data does not cover the point', 'coordinates');
    const ring = await findRing({
      center: request.center,
      tolerancesM: engine.tolerancesM,
      areaAt: async (toleranceM) =>
        limit.signal.aborted
          ? refusal('unavailable', 'the provider of road data did not answer in time')
          : engine.area({ ...request, toleranceM }, limit),
      boundary,
    });
    if (!ring.ok) return ring;
    const source = { provider: engine.name, providerVersion: version, roadDataAt, computedAt: clock() };
    return { ok: true, value: { ring: ring.value, source } };
  }

  return {
    isochrones: ({ project, ...request }) => capacity(project, (limit) => compute(request, limit)),
    routes: {
      route: ({ project, ...request }) =>
        capacity(project, async (limit) => onEarth(await engine.route(request, limit))),
      matrix: ({ project, ...request }) => capacity(project, (limit) => engine.matrix(request, limit)),
    },
    close: () => engine.close(),
  };
}

/** Refuses a route without a path, or with one that leaves the earth. */
function onEarth(route: Answer<Route | null>): Answer<Route | null> {
  if (!route.ok || route.value === null) return route;
  const { path } = route.value;
  const isPath = path.length > 0 && path.every(([x, y]) => Math.abs(x) <= 180 && Math.abs(y) <= 90);
  return isPath ? route : unexpected('its route has no path on the earth');
}
