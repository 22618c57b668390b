/** Admits locations within bounds, encodes them and appends them to the log. */
import { isPortError } from '../pipeline/errors.js';
import { type Log, type NewRecord, type RecordHeaders, topics } from '../pipeline/ports.js';
import { deviceKey } from '../pipeline/records/device-key.js';
import { Slab } from '../pipeline/records/slab.js';
import { headersOf, type Span, type Tracing, within } from '../pipeline/tracing.js';
import { codecs } from '../schemas/codecs.js';
import { ApiError } from '../schemas/errors.js';
import type { Location } from '../schemas/records.js';
import type { IngestMetrics } from './metrics.js';

/** How much may be accepted and not yet durable. Beyond it requests are refused before memory grows. */
interface AdmissionBounds {
  readonly maxInFlightRecords: number;
  readonly maxInFlightBytes: number;
}

/** Limits the locations of this node that are accepted and not yet durable. */
export interface Admission {
  /** Whether another location would exceed the bounds now. */
  readonly isFull: boolean;
  /**
   * Runs the work and counts its records as in flight meanwhile. Throws `overloaded` when they would exceed the bounds.
   */
  run<T>(records: number, bytes: number, work: () => Promise<T>): Promise<T>;
  /**
   * Does the same, but waits until the records fit, in the order of the calls: smaller requests would otherwise pass a
   * large one without end. Uploads use it: waiting slows down their senders.
   */
  runWhenFitting<T>(records: number, bytes: number, work: () => Promise<T>): Promise<T>;
}

/** A request that waits for admission. */
interface WaitingRequest {
  readonly records: number;
  readonly bytes: number;
  start(): void;
}

const retryAfterS = 1;

/** Returns the error of a request that exceeds a bound. It asks the client to wait a second. */
export const overloaded = (): ApiError => new ApiError('overloaded', 'too much is in flight', { retryAfterS });

/** Creates the admission that all requests of a process share, so that the bounds hold for them together. */
export function createAdmission(
  { maxInFlightRecords, maxInFlightBytes }: AdmissionBounds,
  metrics: IngestMetrics,
): Admission {
  let inFlightRecords = 0;
  let inFlightBytes = 0;
  const waiting: WaitingRequest[] = [];

  /** A request that exceeds the bounds by itself is admitted when nothing else is in flight. */
  const fits = (records: number, bytes: number): boolean =>
    inFlightRecords === 0 ||
    (inFlightRecords + records <= maxInFlightRecords && inFlightBytes + bytes <= maxInFlightBytes);

  async function admitted<T>(records: number, bytes: number, work: () => Promise<T>): Promise<T> {
    inFlightRecords += records;
    inFlightBytes += bytes;
    metrics.add('ingest_in_flight_records', records);
    try {
      return await work();
    } finally {
      inFlightRecords -= records;
      inFlightBytes -= bytes;
      metrics.add('ingest_in_flight_records', -records);
      startFitting();
    }
  }

  function startFitting(): void {
    while (waiting.length > 0 && fits(waiting[0]!.records, waiting[0]!.bytes)) waiting.shift()!.start();
  }

  return {
    get isFull() {
      return !fits(1, 0);
    },
    async run(records, bytes, work) {
      if (!fits(records, bytes)) throw overloaded();
      return admitted(records, bytes, work);
    },
    runWhenFitting(records, bytes, work) {
      return new Promise((resolve) => {
        waiting.push({ records, bytes, start: () => resolve(admitted(records, bytes, work)) });
        startFitting();
      });
    },
  };
}

/** Returns the location as the record to append. */
export const recordOf = (location: Location, slab: Slab, headers?: RecordHeaders): NewRecord => ({
  key: deviceKey(location),
  value: slab.encode(codecs.location.encodeInto, location),
  ...(headers && { headers }),
});

/**
 * Resolves when all locations are durable. Rejects with `overloaded` when they would exceed the bounds. The records
 * carry the trace of `request`.
 */
export type Intake = (
  endpoint: 'track' | 'replay',
  locations: readonly Location[],
  request: Span | undefined,
) => Promise<void>;

/** Returns `overloaded` for an append that the log refused because of its own bound; any other error unchanged. */
export function asOverload(error: unknown): unknown {
  return isPortError(error, 'overloaded') ? overloaded() : error;
}

/** Counts a request whose locations were refused: too much is in flight, or the log accepts nothing. */
export function countRefusal(metrics: IngestMetrics, endpoint: 'track' | 'replay' | 'bulk', error: unknown): void {
  const isOverload = error instanceof ApiError && error.code === 'overloaded';
  if (isOverload || isPortError(error, 'overloaded', 'unavailable'))
    metrics.add('ingest_overloaded_total', 1, endpoint);
}

interface IntakeParts {
  readonly log: Pick<Log, 'append'>;
  readonly admission: Admission;
  readonly metrics: IngestMetrics;
  readonly tracing: Tracing | undefined;
}

/** Creates the intake. Counts accepted locations and refused requests by endpoint. */
export function createIntake({ log, admission, metrics, tracing }: IntakeParts): Intake {
  return async (endpoint, locations, request) => {
    const slab = new Slab();
    const span = request && tracing?.start('append locations', { kind: 'producer', parent: request.traceparent });
    const headers = headersOf(span);
    const records = locations.map((location) => recordOf(location, slab, headers));
    const bytes = records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
    try {
      await within(span, () => admission.run(records.length, bytes, () => log.append(topics.locations, records)));
    } catch (error) {
      countRefusal(metrics, endpoint, error);
      throw asOverload(error);
    }
    metrics.add('locations_accepted_total', records.length, endpoint);
  };
}
