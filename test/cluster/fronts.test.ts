/** Two nodes that take requests agree. The suites share the nodes, one after the other. */
import { afterAll, beforeAll } from 'vitest';
import { startFronts, stopFronts } from './fronts/nodes.js';

beforeAll(startFronts);
afterAll(stopFronts);

// The first, because it ends the nodes that the others do not need.
await import('./fronts/read-model-lag.js');
await import('./fronts/accounts.js');
await import('./fronts/edits.js');
