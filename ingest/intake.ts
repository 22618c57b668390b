/** Locations into the log: admitted, encoded, durable. */
import { isPortError } from '../pipeline/errors.js';
import { type Log, topics } from '../pipeline/ports.js';
import { Slab } from '../pipeline/records/slab.js';
import { ApiError } from '../schemas/errors.js';
import type { Location } from '../schemas/records.js';
import { type Admission, overloaded } from './admission.js';
import { recordOf } from './bulk-line.js';
import type { IngestMetrics } from './metrics.js';

/** Resolves when all are durable; rejects with `overloaded` when there is no room for them. */
export type Intake = (endpoint: 'track' | 'replay', locations: readonly Location[]) => Promise<void>;

/** The log may refuse by a bound of its own. */
export function asOverload(error: unknown): unknown {
  return isPortError(error, 'overloaded') ? overloaded() : error;
}

export function createIntake(log: Pick<Log, 'append'>, admission: Admission, metrics: IngestMetrics): Intake {
  return async (endpoint, locations) => {
    const slab = new Slab();
    const records = locations.map((location) => recordOf(location, slab));
    const bytes = records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
    try {
      await admission.run(records.length, bytes, () => log.append(topics.locations, records));
    } catch (error) {
      const cause = asOverload(error);
      if (cause instanceof ApiError && cause.code === 'overloaded') metrics.add('ingest_overloaded_total', 1, endpoint);
      throw cause;
    }
    metrics.add('locations_accepted_total', records.length, endpoint);
  };
}
