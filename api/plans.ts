/** What requires a plan, where the operator enables plans. */
import type { Scope } from '../pipeline/catalog/types.js';
import { ApiError } from '../schemas/errors.js';
import type { ApiDependencies } from './dependencies.js';

/** Throws `plan_required` if the project may not create, enable or change beacons. Other calls need no plan. */
export function requireBeaconPlan(
  { configuration, arePlansEnabled }: Pick<ApiDependencies, 'configuration' | 'arePlansEnabled'>,
  { project }: Pick<Scope, 'project'>,
): void {
  if (arePlansEnabled && configuration.project(project)?.plan !== 'enterprise')
    throw new ApiError('plan_required', 'beacons require the enterprise plan');
}
