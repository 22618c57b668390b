/**
 * A few connections to the engine, each running one statement at a time; further statements wait for their turn.
 *
 * The engine's connections have an output of their own: what a statement had written before it failed would stand at
 * the head of the next answer. So a connection is given up once a statement failed on it. Opening one takes less than a
 * millisecond. Each statement under way holds one of the four threads that Node has for files and other native work:
 * there must be fewer connections than that.
 */
import type { ClickHouseClient } from '@clickhouse/client';

export interface Connections {
  run<T>(statement: (client: ClickHouseClient) => Promise<T>): Promise<T>;
  /** Waits for what runs: closing under a running statement aborts the engine. Nothing may be called after it. */
  close(): Promise<void>;
}

export function createConnections(open: () => ClickHouseClient, size: number): Connections {
  const idle = Array.from({ length: size }, open);
  const waiting: ((client: ClickHouseClient) => void)[] = [];
  const running = new Set<Promise<unknown>>();

  function give(client: ClickHouseClient): void {
    const next = waiting.shift();
    if (next === undefined) idle.push(client);
    else next(client);
  }

  async function runNow<T>(statement: (client: ClickHouseClient) => Promise<T>): Promise<T> {
    const client = idle.pop() ?? (await new Promise<ClickHouseClient>((resolve) => waiting.push(resolve)));
    try {
      const result = await statement(client);
      give(client);
      return result;
    } catch (error) {
      // The new one first: when the last is closed, the engine closes its folder.
      give(open());
      await client.close();
      throw error;
    }
  }

  return {
    async run(statement) {
      const result = runNow(statement);
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
