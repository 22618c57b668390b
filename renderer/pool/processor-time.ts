/** Measures the processor time of each job of this process. Concurrent jobs share the time equally. */

interface ProcessorTime {
  start(id: number): void;
  /** Returns the milliseconds since the job's start. */
  end(id: number): number;
}

/** Returns the processor time of this process so far. */
const usedMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** Creates a measurement of jobs in milliseconds. */
export function createProcessorTime(): ProcessorTime {
  const jobs = new Map<number, number>();
  let lastMs = 0;
  function share(): void {
    const nowMs = usedMs();
    for (const [id, ms] of jobs) jobs.set(id, ms + (nowMs - lastMs) / jobs.size);
    lastMs = nowMs;
  }
  return {
    start(id) {
      share();
      jobs.set(id, 0);
    },
    end(id) {
      share();
      const ms = jobs.get(id) ?? 0;
      jobs.delete(id);
      return ms;
    },
  };
}
