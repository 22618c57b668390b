/** Creates the HTTP client that sends to webhooks, with the configured limits. */
import { parseNetworks } from '../outbound/addresses.js';
import { createOutboundClient, type OutboundClient } from '../outbound/client.js';
import { parameterError } from '../schemas/errors.js';
import type { Configuration } from './config/schema.js';
import { version } from './version.js';

/** Limits of the response body, which is only recorded with the attempt. */
const maxBodyBytes = 1_024;
const bodyTimeoutMs = 1_000;

/** Creates the client, which the caller closes. Throws when `webhooks.allowedNetworks` is invalid. */
export function createWebhookClient({ webhooks }: Configuration): OutboundClient {
  const networks = parseNetworks('webhooks.allowedNetworks', webhooks.allowedNetworks);
  if (!networks.ok) throw parameterError(networks.problem);
  return createOutboundClient({
    allowedNetworks: networks.value,
    userAgent: `Fenceline-Webhooks/${version}`,
    timeoutMs: webhooks.timeoutMs,
    bodyTimeoutMs,
    maxBodyBytes,
    maxConnectionsPerOrigin: webhooks.maxConcurrency,
  });
}
