/**
 * The three LMDB environments of a node and the topics in them.
 *
 * `log/` holds `locations`, `changes`, and what requests and deliveries append: on disk before anybody sees them.
 * `state/` holds states, positions, `events`, `outcomes` and `dead-letters`: visible at once, synced behind. They are
 * apart so that an ingest's acknowledgement never waits behind a commit of states. After a power cut `state/` falls
 * back as a whole, states together with offsets, and never runs ahead of `log/`. `deliveries/` holds the delivery
 * queues, visible at once and synced behind; the free pages that a long queue leaves when it goes slow down no commit
 * of states.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Topic, topics } from '../../pipeline/ports.js';
import { createCompactedTopic } from './compacted-topic.js';
import { type Environment, openEnvironment, type Table } from './environment.js';
import { numberOf, numberValue } from './keys.js';
import type { Space } from './space.js';
import { createBlockTopic, type TopicStore } from './topic-store.js';
import { createWakeups, type Wakeups } from './wakeups.js';

const dayMs = 24 * 60 * 60 * 1000;

/** How long each topic keeps its records, and `changes` its tombstones. */
export const defaultRetentionMs: Readonly<Record<Topic, number>> = {
  locations: 7 * dayMs,
  outcomes: dayMs,
  events: 30 * dayMs,
  changes: 30 * dayMs,
  'dead-letters': 30 * dayMs,
  deliveries: 7 * dayMs,
  attempts: 7 * dayMs,
  rejections: 7 * dayMs,
};

/** Long enough for a refused edit to be told apart and made up for, which takes seconds; see docs/decisions/020. */
const defaultCompactionLagMs = 60 * 60 * 1_000;
const defaultPartitions = 8;
const maxPartitions = 1024;
const defaultMapBytes = 256 * 2 ** 30;

/** Deliveries have one to four kilobytes mostly: pages of 8 kB waste half as much room as those of 4 kB. */
const deliveryPageBytes = 8_192;

export interface StorageOptions {
  /** The folder; made when it isn't there. */
  readonly path: string;
  /** Of every topic but `changes`, which has one. Fixed once the folder exists. Default 8. */
  readonly partitions?: number;
  /** Overrides {@link defaultRetentionMs} per topic. */
  readonly retentionMs?: Partial<Record<Topic, number>>;
  /** For how long topic `changes` keeps a record that a newer one of its key has replaced. Default an hour. */
  readonly compactionLagMs?: number;
  /**
   * Address space that each environment reserves; past it LMDB maps anew, which makes its readers wait. Default 256
   * GiB.
   */
  readonly mapBytes?: number;
  /** Default: always enough. */
  readonly space?: Space;
}

export interface Storage {
  readonly partitions: number;
  readonly logEnvironment: Environment;
  readonly stateEnvironment: Environment;
  readonly deliveryEnvironment: Environment;
  readonly topics: Readonly<Record<Topic, TopicStore>>;
  readonly wakeups: Wakeups;
  close(): Promise<void>;
}

/** Throws when the folder was made for another number of partitions: keys would go astray. */
function checkPartitions(table: Table, partitions: number): void {
  const name = Buffer.from('partitions');
  const stored = numberOf(table.getBinary(name));
  if (stored === undefined) table.putSync(name, numberValue(partitions));
  else if (stored !== partitions) throw new Error(`the data folder has ${stored} partitions, not ${partitions}`);
}

export function openStorage(options: StorageOptions): Storage {
  const {
    partitions = defaultPartitions,
    mapBytes = defaultMapBytes,
    compactionLagMs = defaultCompactionLagMs,
    space,
  } = options;
  const shared = { mapBytes, ...(space && { space }) };
  if (partitions < 1 || partitions > maxPartitions) throw new Error(`${partitions} partitions; 1 to ${maxPartitions}`);
  const path = resolve(options.path);
  mkdirSync(path, { recursive: true });
  const retentionMs = { ...defaultRetentionMs, ...options.retentionMs };
  const logEnvironment = openEnvironment({ path: join(path, 'log'), ...shared, syncBeforeVisible: true });
  const stateEnvironment = openEnvironment({ path: join(path, 'state'), ...shared, syncBeforeVisible: false });
  const deliveryEnvironment = openEnvironment({
    path: join(path, 'deliveries'),
    ...shared,
    syncBeforeVisible: false,
    pageBytes: deliveryPageBytes,
  });
  checkPartitions(logEnvironment.table('meta'), partitions);

  const byTime = (environment: Environment, topic: Topic): TopicStore =>
    createBlockTopic({
      environment,
      table: environment.table(`topic:${topic}`),
      partitions,
      retentionMs: retentionMs[topic],
    });
  const wakeups = createWakeups(path);
  return {
    partitions,
    logEnvironment,
    stateEnvironment,
    deliveryEnvironment,
    wakeups,
    topics: {
      locations: byTime(logEnvironment, topics.locations),
      changes: createCompactedTopic({
        environment: logEnvironment,
        name: `topic:${topics.changes}`,
        tombstoneRetentionMs: retentionMs.changes,
        compactionLagMs,
      }),
      events: byTime(stateEnvironment, topics.events),
      outcomes: byTime(stateEnvironment, topics.outcomes),
      'dead-letters': byTime(stateEnvironment, topics.deadLetters),
      deliveries: byTime(logEnvironment, topics.deliveries),
      attempts: byTime(logEnvironment, topics.attempts),
      rejections: byTime(logEnvironment, topics.rejections),
    },
    async close() {
      wakeups.close();
      await logEnvironment.close();
      await stateEnvironment.close();
      await deliveryEnvironment.close();
    },
  };
}
