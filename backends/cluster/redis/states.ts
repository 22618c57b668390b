/** Reads device states and offsets without a claim. */
import type { StateStore } from '../../../pipeline/ports.js';
import type { RedisConnection } from './connection.js';
import { EncodedCommand } from './encoded-command.js';
import { partitionKeys } from './state-scripts.js';

/** Reads states and offsets without a claim, so they may be those of an earlier moment. */
export interface RedisStates extends Pick<StateStore, 'load'> {
  /** Returns the offset of the next record to apply, for partitions 0 to `partitions` - 1. */
  nextOffsets(partitions: number): Promise<number[]>;
}

/** Larger reads would block the server for longer, and are slower overall. */
const maxKeysPerRead = 1_000;

/** Creates the reader on a connection that the caller opens and closes. */
export function createRedisStates({ client, options, withRetries }: RedisConnection): RedisStates {
  const read = (keys: string[]): Promise<(Buffer | null)[]> =>
    client.sendCommand(new EncodedCommand('mget', keys.slice(0, 1), [keys])) as Promise<(Buffer | null)[]>;

  return {
    async load(partition, keys) {
      const { device } = partitionKeys(options.prefix, partition);
      const reading: Promise<(Buffer | null)[]>[] = [];
      for (let start = 0; start < keys.length; start += maxKeysPerRead) {
        const chunk = keys.slice(start, start + maxKeysPerRead).map((key) => device + key);
        reading.push(withRetries(() => read(chunk)));
      }
      return (await Promise.all(reading)).flat().map((value) => value ?? undefined);
    },

    async nextOffsets(partitions) {
      const metas = Array.from({ length: partitions }, (_, partition) => partitionKeys(options.prefix, partition).meta);
      const offsets = await Promise.all(metas.map((meta) => withRetries(() => client.hget(meta, 'offset'))));
      return offsets.map(Number);
    },
  };
}
