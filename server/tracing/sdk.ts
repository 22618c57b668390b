/**
 * Tracing with the SDK of OpenTelemetry. Loaded only where tracing is on: its packages take time to load and memory.
 * Spans leave in batches over OTLP/HTTP. If the collector is slow or down, they are dropped, and nothing waits.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Context,
  type DiagLogger,
  DiagLogLevel,
  diag,
  type Link,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Span, SpanOptions } from '../../pipeline/tracing.js';
import { version } from '../version.js';
import type { NodeTracing, TracingParts } from './types.js';

/** Spans that wait for the collector; more are dropped. */
const maxQueuedSpans = 4_096;
const exportTimeoutMs = 10_000;
/** How long a stopping process waits for the collector. */
const closeLimitMs = 1_000;
const contextPattern = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

const kinds = {
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
} as const satisfies Record<SpanOptions['kind'], SpanKind>;

/** Starts tracing to the collector at `endpoint`. `role` names the process, or the thread of an embedded node. */
export function startSdk({ endpoint, authorization, samplePercent, role, onProblem }: TracingParts): NodeTracing {
  diag.setLogger(loggerTo(onProblem), DiagLogLevel.WARN);
  const exporter = new OTLPTraceExporter({
    url: endpoint,
    timeoutMillis: exportTimeoutMs,
    ...(authorization !== '' && { headers: { authorization } }),
  });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'fenceline',
      'service.version': version,
      'fenceline.role': role,
    }),
    spanProcessors: [
      new BatchSpanProcessor(exporter, { maxQueueSize: maxQueuedSpans, exportTimeoutMillis: exportTimeoutMs }),
    ],
  });
  const tracer = provider.getTracer('fenceline', version);
  return {
    request(name, options) {
      const parent = options.parent === undefined ? undefined : parse(options.parent);
      return isSampled(parent?.traceId, samplePercent) ? startSpan(tracer, name, options) : undefined;
    },
    start: (name, options) => startSpan(tracer, name, options),
    async close() {
      const sent = provider.shutdown().catch((error: unknown) => onProblem(`${error}`));
      await Promise.race([sent, delay(closeLimitMs, undefined, { ref: false })]);
    },
  };
}

function startSpan(tracer: Tracer, name: string, { kind, parent, links, attributes }: SpanOptions): Span {
  const span = tracer.startSpan(
    name,
    { kind: kinds[kind], ...(attributes && { attributes }), ...(links && { links: linksTo(links) }) },
    parentContext(parent),
  );
  const { traceId, spanId } = span.spanContext();
  return {
    traceparent: `00-${traceId}-${spanId}-01`,
    end(endAttributes, failure) {
      if (endAttributes) span.setAttributes(endAttributes);
      if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
      span.end();
    },
  };
}

/** Decides by our percentage. A caller chooses its trace id, but not whether it is recorded: recording adds load. */
function isSampled(traceId: string | undefined, percent: number): boolean {
  const drawn = traceId === undefined ? Math.random() : Number.parseInt(traceId.slice(-8), 16) / 2 ** 32;
  return drawn * 100 < percent;
}

function parse(traceparent: string) {
  const [, traceId = '', spanId = ''] = contextPattern.exec(traceparent) ?? [];
  const context = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
  return trace.isSpanContextValid(context) ? context : undefined;
}

/** A malformed context counts as none. */
function parentContext(traceparent: string | undefined): Context {
  const parent = traceparent === undefined ? undefined : parse(traceparent);
  return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
}

const linksTo = (contexts: readonly string[]): Link[] =>
  contexts.flatMap((traceparent) => {
    const context = parse(traceparent);
    return context === undefined ? [] : [{ context }];
  });

const loggerTo = (onProblem: (problem: string) => void): DiagLogger => ({
  error: (message) => onProblem(message),
  warn: (message) => onProblem(message),
  info() {},
  debug() {},
  verbose() {},
});
