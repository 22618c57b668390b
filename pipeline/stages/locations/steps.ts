/**
 * Public entry of the location stage: the pure steps from a record to its events, in the order in which they run.
 * Replay runs them too. Code outside the stages imports them only from here.
 */
export { type DecodedBatch, decodeBatch } from './decode.js';
export { createDefinitions, type Definitions } from './definitions.js';
export type { Device } from './device-states.js';
export { type Collector, evaluateRecords } from './evaluate-batch.js';
export { eventsOf } from './events.js';
