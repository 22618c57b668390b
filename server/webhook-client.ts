/** Creates the HTTP client that sends to webhooks, with the configured limits. */
import { networksOf } from '../outbound/addresses.js';
import { createOutboundClient, type OutboundClient } from '../outbound/client.js';
import type { Configuration } from './config/schema.js';
import { version } from './version.js';

/** Limits of the response body, which is only recorded with the attempt. */
const maxBodyBytes = 1_024;
const bodyTimeoutMs = 1_000;

/** Creates the client, which the caller closes. */
export function createWebhookClient({ webhooks }: Configuration): OutboundClient {
  return createOutboundClient({
    allowedNetworks: networksOf(webhooks.allowedNetworks),
    userAgent: `Fenceline-Webhooks/${version}`,
    timeoutMs: webhooks.timeoutMs,
    bodyTimeoutMs,
    maxBodyBytes,
    maxConnectionsPerOrigin: webhooks.maxConcurrency,
  });
}
