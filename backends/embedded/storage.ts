/**
 * The three LMDB environments of a node and their topics.
 *
 * - `log/`: `locations`, `changes`, and the records that requests and deliveries append. Commits are on disk before
 *   they are visible. It is separate from `state/`, so that an acknowledgement never waits for a commit of states.
 * - `state/`: states, positions, `events`, `outcomes` and `dead-letters`. Commits are visible at once and synced in the
 *   background. A power cut undoes states and offsets together, and `state/` is never ahead of `log/`.
 * - `deliveries/`: the delivery queues, synced in the background. It is separate, because the free pages of a queue
 *   that was long would slow down commits of states.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Topic, topics } from '../../pipeline/ports.js';
import { hourMs } from '../../schemas/durations.js';
import { topicRetentionMs } from '../topic-retention.js';
import { createCompactedTopic } from './compacted-topic.js';
import { type Environment, openEnvironment, type Table } from './environment.js';
import { numberOf, numberValue } from './keys.js';
import type { Space } from './space.js';
import { createBlockTopic, type TopicStore } from './topic-store.js';
import { createWakeups, type Wakeups } from './wakeups.js';

/** Long enough to detect and correct a rejected edit, which takes seconds: docs/decisions/020. */
const defaultCompactionLagMs = hourMs;
const defaultPartitions = 8;
const maxPartitions = 1024;
const defaultMapBytes = 256 * 2 ** 30;

/** Most deliveries have one to four kilobytes: pages of 8 kB waste half as much space as pages of 4 kB. */
const deliveryPageBytes = 8_192;

/** Where the environments are, and how long their topics keep records. */
export interface StorageOptions {
  /** The folder. It is created if it is missing. */
  readonly path: string;
  /** Partitions of every topic except `changes`, which has one. Can't be changed later. Default 8. */
  readonly partitions?: number;
  /** Overrides {@link topicRetentionMs} per topic. */
  readonly retentionMs?: Partial<Record<Topic, number>>;
  /** How long topic `changes` keeps a replaced record. Default an hour. */
  readonly compactionLagMs?: number;
  /**
   * Address space that each environment reserves. A larger file is mapped again, which blocks readers. Default 256 GiB.
   */
  readonly mapBytes?: number;
  /** Default: no limit. */
  readonly space?: Space;
}

/** The open LMDB files of a data folder, with its topics. */
export interface Storage {
  readonly logEnvironment: Environment;
  readonly stateEnvironment: Environment;
  readonly deliveryEnvironment: Environment;
  /** All three, by the name of their folder. */
  readonly environments: Readonly<Record<'log' | 'state' | 'deliveries', Environment>>;
  readonly topics: Readonly<Record<Topic, TopicStore>>;
  readonly wakeups: Wakeups;
  close(): Promise<void>;
}

/** Throws when the folder has another number of partitions: keys would go to other partitions. */
function checkPartitions(table: Table, partitions: number): void {
  const name = Buffer.from('partitions');
  const stored = numberOf(table.getBinary(name));
  if (stored === undefined) table.putSync(name, numberValue(partitions));
  else if (stored !== partitions) throw new Error(`the data folder has ${stored} partitions, not ${partitions}`);
}

/**
 * Opens the three environments below `path`, and creates missing folders. The caller closes the storage. Throws when
 * the folder has another number of partitions.
 */
export function openStorage(options: StorageOptions): Storage {
  const {
    partitions = defaultPartitions,
    mapBytes = defaultMapBytes,
    compactionLagMs = defaultCompactionLagMs,
    space,
  } = options;
  const shared = { mapBytes, ...(space && { space }) };
  if (partitions < 1 || partitions > maxPartitions)
    throw new Error(`${partitions} partitions: must be 1 to ${maxPartitions}`);
  const path = resolve(options.path);
  mkdirSync(path, { recursive: true });
  const retentionMs = { ...topicRetentionMs, ...options.retentionMs };
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
      // Outcomes are many and kept for only a day: compression costs more than the space is worth.
      isCompressed: topic !== topics.outcomes,
    });
  const wakeups = createWakeups(path);
  const environments = { log: logEnvironment, state: stateEnvironment, deliveries: deliveryEnvironment };
  return {
    logEnvironment,
    stateEnvironment,
    deliveryEnvironment,
    environments,
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
      for (const environment of Object.values(environments)) await environment.close();
    },
  };
}
