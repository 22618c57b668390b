/** Clients for tests, with a secret that must not appear in messages. Closed when the test ends. */
import { onTestFinished } from 'vitest';
import { type Networks, parseNetworks } from '../addresses.js';
import {
  createOutboundClient,
  type OutboundClient,
  type OutboundOptions,
  type OutboundRequest,
  type OutboundResult,
} from '../client.js';
import { type Answering, RawReceiver } from './receiver.js';

/** Part of the query and headers of each request that {@link send} makes. */
export const secret = 'c29tZXRoaW5nIHNlY3JldA';

/** A time limit long enough not to matter. */
export const ampleMs = 30_000;

/** Parses networks. Throws if one is invalid. */
export function networks(...list: string[]): Networks {
  const parsed = parseNetworks('networks', list);
  if (!parsed.ok) throw new Error(parsed.problem.rule);
  return parsed.value;
}

/** Opens a client that may connect to loopback, with ample bounds by default. */
export function openClient(options: Partial<OutboundOptions> = {}): OutboundClient {
  const client = createOutboundClient({
    allowedNetworks: networks('127.0.0.1'),
    userAgent: 'Fenceline',
    timeoutMs: ampleMs,
    bodyTimeoutMs: ampleMs,
    maxBodyBytes: 1_024,
    maxConnectionsPerOrigin: 16,
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

/** Opens a receiver on loopback; closed when the test ends. */
export async function openReceiver(
  answering: Answering,
  options?: Parameters<typeof RawReceiver.start>[1],
): Promise<RawReceiver> {
  const receiver = await RawReceiver.start(answering, options);
  onTestFinished(() => receiver.close());
  return receiver;
}

/** Returns a URL of the receiver under a host name. */
export const urlOf = ({ port }: { readonly port: number }, host = '127.0.0.1'): string => `http://${host}:${port}/hook`;

/** Returns a GET request that carries the secret in its query and its headers. */
export const get = (url: string, headers: OutboundRequest['headers'] = {}): OutboundRequest => ({
  method: 'GET',
  url: `${url}?token=${secret}`,
  headers: { authorization: secret, ...headers },
});

/** Returns a POST request that carries the secret as {@link get} does. */
export const post = (url: string, body: string): OutboundRequest => ({
  ...get(url),
  method: 'POST',
  body: Buffer.from(body),
});

/**
 * Summarizes a result: status and body of a response, or the kind of failure. Fails when a failure's message contains
 * the secret.
 */
export async function outcome(sent: Promise<OutboundResult>): Promise<object> {
  const result = await sent;
  if (result.kind === 'answered')
    return { status: result.status, body: result.body.toString(), truncated: result.truncated };
  if (result.message.includes(secret)) throw new Error(`a message contains the secret: ${result.message}`);
  return { failure: result.failure, message: result.message };
}

/** Returns the {@link outcome} of a response whose body fits into the bound. */
export const whole = (status: number, body: string) => ({ status, body, truncated: false });
/** Returns the {@link outcome} of a response whose body was cut at the bound, or broke off. */
export const truncated = (status: number, body: string) => ({ status, body, truncated: true });
