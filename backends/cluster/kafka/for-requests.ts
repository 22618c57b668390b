/** Kafka for HTTP requests: reads fail during an outage after the time of appends, instead of being retried. */
import { PortError } from '../../../pipeline/errors.js';
import type { Log } from '../../../pipeline/ports.js';
import { withinMs } from '../../../pipeline/time-limit.js';
import { ConnectionClosed } from './connection/brokers.js';
import type { KafkaLog } from './log.js';

const limitMs = 10_000;
const retryAfterS = 5;

const unavailable = (): PortError => new PortError('unavailable', 'Kafka does not answer', { retryAfterS });

/**
 * Returns the same log, but reads and questions about its bounds reject with PortError `unavailable` after ten seconds
 * of an outage, and once the log is closed.
 */
export function logForRequests(log: KafkaLog): Log {
  async function limited<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await withinMs(limitMs, answer, unavailable);
    } catch (error) {
      throw error instanceof ConnectionClosed ? unavailable() : error;
    }
  }
  return {
    partitions: log.partitions,
    partitionOf: log.partitionOf,
    append: log.append,
    consume: log.consume,
    read: (...range) => limited(log.read(...range)),
    bounds: (topic, partition) => limited(log.bounds(topic, partition)),
    end: (topic, partition) => limited(log.end(topic, partition)),
  };
}
