/** How a node's threads send to webhooks: one client per thread, with the operator's bounds. */
import { parseNetworks } from '../../outbound/addresses.js';
import { createOutboundClient, type OutboundClient } from '../../outbound/client.js';
import { parameterError } from '../../schemas/errors.js';
import type { Configuration } from '../config/schema.js';
import { version } from '../version.js';

/** What is kept of an answer's body, and how long it is waited for: it only goes on record. */
const maxBodyBytes = 1_024;
const bodyTimeoutMs = 1_000;

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
