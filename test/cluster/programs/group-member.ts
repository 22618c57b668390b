/**
 * A member of a group in a separate process, which a test may pause and kill. Prints each action as a line of JSON.
 * Ends on SIGTERM.
 */
import { Redis } from 'ioredis';
import { connectKafka } from '../../../backends/cluster/kafka/connection/connection.js';
import { startGroupConsumer } from '../../../backends/cluster/kafka/consume/group-consumer.js';
import { createReader } from '../../../backends/cluster/kafka/read/reader.js';
import type { ReadingWire } from '../../../backends/cluster/kafka/read/records.js';
import type { KafkaOptions } from '../../../backends/cluster/options.js';
import { GroupLedger, ledgerHandler } from '../kafka/group-ledger.js';

export interface MemberWork {
  readonly kafka: KafkaOptions;
  readonly redis: { readonly host: string; readonly port: number };
  /** Duration of a call of the handler. */
  readonly workMs: number;
}

const work = JSON.parse(process.argv[2]!) as MemberWork;
const redis = new Redis(work.redis);
const connection = await connectKafka(work.kafka, () => {});
const wire: ReadingWire = { learn: async () => {}, fromWire: (_topic, frame) => frame };
const reader = createReader(connection, wire);
const ledger = new GroupLedger(redis, work.kafka.prefix);
const consumer = startGroupConsumer({
  connection,
  log: reader,
  wire,
  options: {
    topic: 'locations',
    group: 'test',
    handler: ledgerHandler(
      ledger,
      () => work.workMs,
      (told) => console.log(JSON.stringify(told)),
    ),
    maxBatchRecords: 50,
    maxWaitMs: 0,
  },
  sessionTimeoutMs: work.kafka.sessionTimeoutMs,
  stallTimeoutMs: work.kafka.stallTimeoutMs,
  onProblem: () => {},
});
process.once('SIGTERM', () => void consumer.close());
await consumer.done;
await reader.close();
await connection.close();
redis.disconnect();
