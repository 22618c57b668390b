/** Returns options with a new prefix: of a server or, for several nodes, of a Redis Cluster. */
import { randomBytes } from 'node:crypto';
import type { RedisOptions } from '../../../backends/cluster/options.js';

export function freshRedisOptions(nodes: RedisOptions['nodes'], options: Partial<RedisOptions> = {}): RedisOptions {
  return {
    nodes,
    isCluster: nodes.length > 1,
    prefix: `test-${randomBytes(8).toString('hex')}:`,
    connectTimeoutMs: 10_000,
    commandTimeoutMs: 10_000,
    ...options,
  };
}
