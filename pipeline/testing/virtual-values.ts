/** Expiring values of the real embedded store, in virtual time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, vi } from 'vitest';
import { createExpiringValues } from '../../backends/embedded/expiring-values.js';
import { openStorage } from '../../backends/embedded/storage.js';
import type { ExpiringValues } from '../ports.js';

interface VirtualValues extends ExpiringValues {
  /** Resolves when every call has been answered, and so has what followed. */
  answered(): Promise<void>;
  /** Lets whole seconds pass one by one, with answers to all calls in each. */
  pass(ms: number): Promise<void>;
}

/** Opens a store for each test of the file, whose timers and `performance` are virtual. */
export function useVirtualValues(): VirtualValues {
  const calls = new Set<Promise<unknown>>();
  let values: ExpiringValues;
  let close: () => Promise<void>;

  beforeEach(() => {
    const path = mkdtempSync(join(tmpdir(), 'fenceline-values-'));
    const storage = openStorage({ path, partitions: 1, mapBytes: 2 ** 28 });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
    values = createExpiringValues(storage, { clock: () => performance.now() });
    close = async () => {
      vi.useRealTimers();
      await storage.close();
      rmSync(path, { recursive: true });
    };
  });
  afterEach(() => close());

  function tracked<T>(call: Promise<T>): Promise<T> {
    const answer = call.finally(() => calls.delete(answer));
    calls.add(answer);
    return answer;
  }

  async function answered(): Promise<void> {
    do {
      await Promise.allSettled(calls);
      await new Promise((resolve) => setImmediate(resolve));
    } while (calls.size > 0);
  }

  return {
    get: (...given) => tracked(values.get(...given)),
    put: (...given) => tracked(values.put(...given)),
    increment: (...given) => tracked(values.increment(...given)),
    delete: (...given) => tracked(values.delete(...given)),
    answered,
    async pass(ms) {
      for (let left = ms; left > 0; left -= 1_000) {
        vi.advanceTimersByTime(1_000);
        await answered();
      }
    },
  };
}
