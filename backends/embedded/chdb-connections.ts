/**
 * A pool of connections to the engine. Each runs one statement at a time; more statements wait.
 *
 * The output buffer belongs to the connection: output of a failed statement would precede the next result. So a
 * connection is replaced after a failure, which takes less than a millisecond. Each running statement occupies one of
 * the four threads that Node has for files and native work, so the pool must be smaller than that.
 */
import type { ClickHouseClient } from '@clickhouse/client';
import type { Space } from './space.js';

/** Connections to an open folder of chDB. */
export interface Connections {
  run<T>(statement: (client: ClickHouseClient) => Promise<T>): Promise<T>;
  /** Waits for running statements: closing during one aborts the engine. Nothing may be called afterwards. */
  close(): Promise<void>;
}

/**
 * Opens `size` connections. The caller closes the pool. Statements count as writes: the engine aborts, and the process
 * hangs, when the thread of a running statement is ended.
 */
export function createConnections(
  open: () => ClickHouseClient,
  size: number,
  { counted }: Pick<Space, 'counted'>,
): Connections {
  const idle = Array.from({ length: size }, open);
  const waiting: ((client: ClickHouseClient) => void)[] = [];
  const running = new Set<Promise<unknown>>();

  function release(client: ClickHouseClient): void {
    const next = waiting.shift();
    if (next === undefined) idle.push(client);
    else next(client);
  }

  async function runOn<T>(client: ClickHouseClient, statement: (client: ClickHouseClient) => Promise<T>): Promise<T> {
    try {
      const result = await statement(client);
      release(client);
      return result;
    } catch (error) {
      // Opens the new connection first: when the last one closes, the engine closes its folder.
      release(open());
      await client.close();
      throw error;
    }
  }

  async function runInTurn<T>(statement: (client: ClickHouseClient) => Promise<T>): Promise<T> {
    const client = idle.pop() ?? (await new Promise<ClickHouseClient>((resolve) => waiting.push(resolve)));
    return counted(() => runOn(client, statement));
  }

  return {
    async run(statement) {
      const result = runInTurn(statement);
      running.add(result);
      try {
        return await result;
      } finally {
        running.delete(result);
      }
    },
    async close() {
      await Promise.allSettled(running);
      await Promise.all(idle.map((client) => client.close()));
    },
  };
}
