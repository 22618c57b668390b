/**
 * Reads topics `locations`, `events` and `changes` of a data folder, for tools that run beside a server or without one.
 *
 * Nothing is written, and writers wait only while the files are opened. A reader takes an entry in LMDB's table of
 * readers, and keeps a snapshot for no longer than one read.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Log, topics } from '../../pipeline/ports.js';
import { createCompactedReader } from './compacted-topic.js';
import { type Environment, openEnvironment } from './environment.js';
import { openInTurn } from './folder-lock.js';
import { numberOf } from './keys.js';
import { createBlockTopic, readSlice, type TopicStore } from './topic-store.js';

/** The part of a log that reads. It never waits for new records. */
export type ReadableLog = Pick<Log, 'partitions' | 'read' | 'bounds'>;

/** An open log, which its user closes. */
interface LogReader extends ReadableLog {
  close(): Promise<void>;
}

const mapBytes = 256 * 2 ** 30;
const neverSweptMs = Number.POSITIVE_INFINITY;

/** Returns whether the folder contains a log. */
export const hasLog = (path: string): boolean =>
  ['log', 'state'].every((name) => existsSync(join(path, name, 'data.mdb')));

/** Opens a folder that {@link hasLog}, in turn. Its methods throw for other topics than the three. */
export async function openLogReader(path: string): Promise<LogReader> {
  const open = (name: string): Environment =>
    openEnvironment({ path: join(path, name), mapBytes, syncBeforeVisible: true, readOnly: true });
  const [log, state] = await openInTurn(path, () => [open('log'), open('state')] as const);
  const partitions = numberOf(log.table('meta').getBinary(Buffer.from('partitions'))) ?? 0;
  const byTime = (environment: Environment, topic: string): TopicStore =>
    createBlockTopic({
      environment,
      table: environment.table(`topic:${topic}`),
      partitions,
      retentionMs: neverSweptMs,
    });
  const stores = new Map<string, Pick<TopicStore, 'environment' | 'partitions' | 'read' | 'first' | 'end'>>([
    [topics.locations, byTime(log, topics.locations)],
    [topics.events, byTime(state, topics.events)],
    [topics.changes, createCompactedReader({ environment: log, name: `topic:${topics.changes}` })],
  ]);

  /** Returns the topic with everything written so far. */
  function latest(topic: string): Pick<TopicStore, 'partitions' | 'read' | 'first' | 'end'> {
    const store = stores.get(topic);
    if (!store) throw new Error(`topic ${topic} can't be read from a data folder`);
    store.environment.refresh();
    return store;
  }

  return {
    partitions: (topic) => latest(topic).partitions,
    read: async (topic, partition, offset, maxRecords, maxBytes) =>
      readSlice(latest(topic), partition, offset, maxRecords, maxBytes),
    async bounds(topic, partition) {
      const store = latest(topic);
      return { first: store.first(partition), end: store.end(partition) };
    },
    async close() {
      await log.close();
      await state.close();
    },
  };
}
