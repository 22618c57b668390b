/**
 * Requests to services that the operator has configured, whose addresses may be private. Services may be broken: the
 * size of an answer is limited, and its shape is checked by {@link shapeOf}.
 */
import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { allNetworks } from '../outbound/addresses.js';
import { createOutboundClient } from '../outbound/client.js';
import { minuteMs } from '../schemas/durations.js';
import { parsedJson } from '../schemas/parsed-json.js';
import { limitText } from '../schemas/wording.js';
import { type Answer, refusal } from './answer.js';

/** A request to the address of a provider, which the operator chose. */
export interface JsonRequest {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal: AbortSignal;
}

/** An answer of a service, of any status. */
export interface JsonResponse {
  readonly status: number;
  /** Undefined if the body is not JSON. */
  readonly body: unknown;
}

/** Sends requests to services. The owner closes it. */
export interface JsonClient {
  /** Returns the response, whatever its status. Answers `unavailable` without one. Redirects are not followed. */
  request(request: JsonRequest): Promise<Answer<JsonResponse>>;
  /** Ends requests in flight. */
  close(): Promise<void>;
}

/** A route across a continent has 2 MB. The event loop waits while an answer is parsed. */
const maxResponseBytes = 4 * 2 ** 20;
/** Each request has a signal for its own limit, which is shorter. */
const timeoutMs = 10 * minuteMs;
/** Callers limit how many requests are sent at the same time. */
const maxConnectionsPerOrigin = 1_000;

/** Creates a client. Its connections are kept between requests. */
export function createJsonClient(): JsonClient {
  const client = createOutboundClient({
    allowedNetworks: allNetworks,
    userAgent: 'Fenceline',
    timeoutMs,
    bodyTimeoutMs: timeoutMs,
    maxBodyBytes: maxResponseBytes,
    maxConnectionsPerOrigin,
  });
  return {
    async request({ url, method = 'GET', headers, body, signal }) {
      const result = await client.send({
        url,
        method,
        headers: {
          accept: 'application/json, application/geo+json',
          'accept-encoding': 'identity',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
        signal,
      });
      if (signal.aborted) return refusal('unavailable', 'the provider could not be reached: it did not answer in time');
      if (result.kind === 'failed')
        return refusal('unavailable', `the provider could not be reached: ${result.message}`);
      if (result.truncated)
        return refusal(
          'unavailable',
          `the provider's answer ended early, or has more than ${limitText(maxResponseBytes)}`,
        );
      return { ok: true, value: { status: result.status, body: parsedJson(result.body) } };
    },
    close: () => client.close(),
  };
}

/** Returns a test of whether a value has the shape of a schema, which is compiled with the first value. */
export function shapeOf<Schema extends TSchema>(schema: Schema): (value: unknown) => value is Static<Schema> {
  let validator: Validator | undefined;
  return (value): value is Static<Schema> => {
    validator ??= Compile(schema);
    return validator.Check(value);
  };
}
