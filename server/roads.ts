/** Creates the provider of isochrones and routes that the settings choose. */
import { join, resolve } from 'node:path';
import { type Bounds, boundsBoundary, isBounds } from '../providers/roads/boundary.js';
import type { RoadEngine } from '../providers/roads/engine.js';
import { createGraphHopper } from '../providers/roads/graphhopper.js';
import type { HttpEngineOptions } from '../providers/roads/http-engine.js';
import { createOpenRouteService } from '../providers/roads/openrouteservice.js';
import { createRoadProvider, type RoadProvider } from '../providers/roads/provider.js';
import { createValhallaProcess } from '../providers/valhalla/child.js';
import { createEmbeddedValhalla } from '../providers/valhalla/embedded.js';
import { createValhallaService } from '../providers/valhalla/service.js';
import { isHttpUrl } from './config/http-url.js';
import type { Configuration } from './config/schema.js';
import { ConfigurationError } from './failures.js';

const routerProcess = new URL('../providers/valhalla/process.js', import.meta.url);

/** Returns the folder of the embedded router's road data. */
export const roadDataFolder = ({ data, routing }: Pick<Configuration, 'data' | 'routing'>): string =>
  routing.dataFolder === '' ? join(resolve(data), 'roads') : resolve(routing.dataFolder);

/** Returns undefined if the operator wants none. Throws a {@link ConfigurationError} for settings that do not fit. */
export function createRoads(
  configuration: Configuration,
  onProblem: (reason: string) => void,
): RoadProvider | undefined {
  const { provider, timeoutMs, maxConcurrency, maxWaitingPerProject } = configuration.routing;
  if (provider === 'none') return undefined;
  const engine =
    provider === 'embedded' ? embedded(configuration, onProblem) : service(provider, configuration.routing);
  return createRoadProvider(engine, { timeoutMs, maxConcurrency, maxWaitingPerProject }, Date.now);
}

const embedded = (configuration: Configuration, onProblem: (reason: string) => void): RoadEngine =>
  createEmbeddedValhalla(roadDataFolder(configuration), createValhallaProcess(routerProcess, onProblem));

function service(
  provider: Exclude<Configuration['routing']['provider'], 'embedded' | 'none'>,
  { url, apiKey, bounds }: Configuration['routing'],
): RoadEngine {
  if (!isHttpUrl(url))
    throw new ConfigurationError(`routing.url must be the URL of ${provider}, such as http://127.0.0.1:8002`);
  const options: HttpEngineOptions = { url, apiKey, boundary: boundaryOf(bounds) };
  if (provider === 'openrouteservice') return createOpenRouteService(options);
  return provider === 'graphhopper' ? createGraphHopper(options) : createValhallaService(options);
}

function boundaryOf(bounds: readonly string[]) {
  if (bounds.length === 0) return undefined;
  const numbers: unknown = bounds.map(Number);
  if (!isBounds(numbers))
    throw new ConfigurationError('routing.bounds must be four numbers: west, south, east and north, in degrees');
  return boundsBoundary(numbers satisfies Bounds);
}
