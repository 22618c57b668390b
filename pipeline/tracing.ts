/**
 * Distributed traces: the spans that a location causes, from its request to its webhooks. The process implements
 * {@link Tracing} with OpenTelemetry, or passes none, and then nothing is recorded or carried.
 *
 * Parents are passed explicitly, as W3C trace context (the header `traceparent`), because most spans belong to records
 * that another thread or process has written.
 */
import type { LogRecord, RecordHeaders } from './ports.js';

type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** What a span is and belongs to. */
export interface SpanOptions {
  readonly kind: 'server' | 'producer' | 'consumer' | 'client' | 'internal';
  /** Trace context; absent: the span begins a trace. */
  readonly parent?: string | undefined;
  /** Trace contexts of the records that this span processes. */
  readonly links?: readonly string[];
  readonly attributes?: SpanAttributes;
}

/** A recorded span that has started. */
export interface Span {
  /** Trace context for the spans that this one causes. */
  readonly traceparent: string;
  /** Call once. `failure` says why it failed. */
  end(attributes?: SpanAttributes, failure?: string): void;
}

/**
 * Starts spans. Whether a request is recorded is decided once, at its beginning, and holds for everything that it
 * causes.
 */
export interface Tracing {
  /** Starts the span of a request, or returns undefined if it isn't among those that are recorded. */
  request(name: string, options: SpanOptions): Span | undefined;
  /** Starts a span that belongs to a recorded one. */
  start(name: string, options: SpanOptions): Span;
}

/** Name of the header of requests and records. */
export const traceHeader = 'traceparent';

/** Returns the trace context that a record carries. */
export const contextOf = ({ headers }: Pick<LogRecord, 'headers'>): string | undefined => headers?.[traceHeader];

/** Returns headers of a record that carry the span's context; undefined without a span. */
export const headersOf = (span: Span | undefined): RecordHeaders | undefined =>
  span && { [traceHeader]: span.traceparent };

/** Runs the work within the span, which ends with it. */
export async function within<Result>(span: Span | undefined, work: () => Promise<Result>): Promise<Result> {
  if (span === undefined) return work();
  try {
    const result = await work();
    span.end();
    return result;
  } catch (error) {
    span.end(undefined, error instanceof Error ? error.message : 'failed');
    throw error;
  }
}
