/** All workloads by name. */
import { citiesWorkload } from './cities.js';
import { overlapWorkload } from './overlap.js';
import { polygonsWorkload } from './polygons.js';
import { sparseWorkload } from './sparse.js';
import type { Workload } from './workload.js';

/** All workloads, in the order of the page. */
export const workloads: readonly Workload[] = [citiesWorkload, polygonsWorkload, overlapWorkload, sparseWorkload];
