/**
 * The spans of one batch. The batch is a trace of its own with links to the requests, because it has locations of many.
 * Each location gets a span within the trace of its request. From there the context goes on to its events.
 */
import type { LogRecord, RecordHeaders } from '../../ports.js';
import { contextOf, headersOf, type Span, type Tracing } from '../../tracing.js';

/** Links of a batch's span. OpenTelemetry keeps no more. */
const maxLinks = 128;

/** The spans of a batch that is being applied. `end` ends them all. */
export interface BatchTrace {
  /** Context of the batch's span. */
  readonly traceparent: string;
  /** Returns headers for the events of a location; undefined if its request isn't recorded. */
  headersFor(record: LogRecord): RecordHeaders | undefined;
  end(result: string): void;
}

/** Starts the spans of a batch. Returns undefined if no request of its locations is recorded. */
export function traceBatch(tracing: Tracing | undefined, records: readonly LogRecord[]): BatchTrace | undefined {
  if (tracing === undefined) return undefined;
  const recorded = records.filter((record) => contextOf(record) !== undefined);
  if (recorded.length === 0) return undefined;
  const attributes = { 'messaging.batch.message_count': records.length, partition: records[0]?.partition ?? 0 };
  const batch = tracing.start('evaluate batch', {
    kind: 'consumer',
    links: recorded.slice(0, maxLinks).map((record) => contextOf(record) as string),
    attributes,
  });
  const spans = new Map<LogRecord, Span>();
  for (const record of recorded)
    spans.set(
      record,
      tracing.start('evaluate location', { kind: 'consumer', parent: contextOf(record), links: [batch.traceparent] }),
    );
  return {
    traceparent: batch.traceparent,
    headersFor: (record) => headersOf(spans.get(record)),
    end(result) {
      for (const span of spans.values()) span.end({ result });
      batch.end({ result });
    },
  };
}
