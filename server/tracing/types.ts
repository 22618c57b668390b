/** The parts that tracing starts with, and the tracing of a process. */
import type { Tracing } from '../../pipeline/tracing.js';

/** Where spans go, and which share of requests has one. `authorization` is empty where none is needed. */
export interface TracingParts {
  readonly endpoint: string;
  readonly authorization: string;
  readonly samplePercent: number;
  readonly role: string;
  readonly onProblem: (problem: string) => void;
}

/** The tracing of a process, which its owner closes last. */
export interface NodeTracing extends Tracing {
  /** Sends the spans that have ended. */
  close(): Promise<void>;
}
