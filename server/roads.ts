/** Creates the provider of isochrones and routes that the settings choose. */
import { join, resolve } from 'node:path';
import { boundsBoundary, isBounds } from '../providers/roads/boundary.js';
import type { RoadEngine } from '../providers/roads/engine.js';
import { createGraphHopper } from '../providers/roads/graphhopper.js';
import type { HttpEngineOptions } from '../providers/roads/http-engine.js';
import { createOpenRouteService } from '../providers/roads/openrouteservice.js';
import { createRoadProvider, type RoadProvider } from '../providers/roads/provider.js';
import { createValhallaProcess } from '../providers/valhalla/child.js';
import { createEmbeddedValhalla } from '../providers/valhalla/embedded.js';
import { createValhallaService } from '../providers/valhalla/service.js';
import type { Configuration } from './config/schema.js';

const routerProcess = new URL('../providers/valhalla/process.js', import.meta.url);

/** Returns the folder of the embedded router's road data. */
export const roadDataFolder = ({ data, routing }: Pick<Configuration, 'data' | 'routing'>): string =>
  routing.dataFolder === '' ? join(resolve(data), 'roads') : resolve(routing.dataFolder);

/** Returns what the provider lacks. */
export const routingProblems = ({ routing: { provider, url } }: Configuration): readonly string[] =>
  provider !== 'embedded' && provider !== 'none' && url === ''
    ? [`routing.url: must be set, because routing.provider is ${provider}`]
    : [];

/** Returns undefined if the operator wants none. */
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
  const numbers: unknown = bounds.map(Number);
  const options: HttpEngineOptions = { url, apiKey, boundary: isBounds(numbers) ? boundsBoundary(numbers) : undefined };
  if (provider === 'openrouteservice') return createOpenRouteService(options);
  return provider === 'graphhopper' ? createGraphHopper(options) : createValhallaService(options);
}
