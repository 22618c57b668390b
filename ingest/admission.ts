/** How much may be accepted and not yet durable: past it, requests are turned away before memory grows. */
import { ApiError } from '../schemas/errors.js';

export interface AdmissionBounds {
  readonly maxInFlightRecords: number;
  readonly maxInFlightBytes: number;
}

export interface Admission {
  /** Nothing more is let in now. */
  readonly isFull: boolean;
  /** Runs the work with its share admitted; throws `overloaded` when there is no room. */
  run<T>(records: number, bytes: number, work: () => Promise<T>): Promise<T>;
  /** The same, but waits its turn: for uploads, whose senders are slowed down by it. */
  runWhenRoom<T>(records: number, bytes: number, work: () => Promise<T>): Promise<T>;
}

const retryAfterS = 1;

export const overloaded = (): ApiError => new ApiError('overloaded', 'too much is in flight', { retryAfterS });

export function createAdmission({ maxInFlightRecords, maxInFlightBytes }: AdmissionBounds): Admission {
  let inFlightRecords = 0;
  let inFlightBytes = 0;
  const waiting: (() => void)[] = [];

  /** What alone exceeds the bounds is let in when nothing else is. */
  const hasRoom = (records: number, bytes: number): boolean =>
    inFlightRecords === 0 ||
    (inFlightRecords + records <= maxInFlightRecords && inFlightBytes + bytes <= maxInFlightBytes);

  async function admitted<T>(records: number, bytes: number, work: () => Promise<T>): Promise<T> {
    inFlightRecords += records;
    inFlightBytes += bytes;
    try {
      return await work();
    } finally {
      inFlightRecords -= records;
      inFlightBytes -= bytes;
      for (const wake of waiting.splice(0)) wake();
    }
  }

  return {
    get isFull() {
      return !hasRoom(1, 0);
    },
    async run(records, bytes, work) {
      if (!hasRoom(records, bytes)) throw overloaded();
      return admitted(records, bytes, work);
    },
    async runWhenRoom(records, bytes, work) {
      while (!hasRoom(records, bytes)) await new Promise<void>((resolve) => waiting.push(resolve));
      return admitted(records, bytes, work);
    },
  };
}
