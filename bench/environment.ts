/** The environment of a run. Figures are meaningless without it. */
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';
import type { Size } from './case.js';

/** Where and with what a run was made. */
export interface Environment {
  readonly commit: string;
  readonly date: string;
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGib: number;
  /** The number of processes that wanted a core during the last minute before the run. Older results have none. */
  readonly load?: number;
  /** The size of the workloads. Older results have none. */
  readonly size?: Size;
}

function commit(): string {
  try {
    const id = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
    const changed =
      execFileSync('git', ['status', '--porcelain', '--untracked-files=no'], { encoding: 'utf8' }).trim() !== '';
    return changed ? `${id}-changed` : id;
  } catch {
    return 'unknown';
  }
}

/** Returns the environment of this process, the commit and the load of the moment. */
export const environment = (size: Size): Environment => ({
  commit: commit(),
  date: new Date().toISOString(),
  node: process.version,
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  memoryGib: Math.round(totalmem() / 2 ** 30),
  load: Math.round((loadavg()[0] as number) * 10) / 10,
  size,
});

/** Formats an environment as the line that stands above results. */
export const environmentLine = ({ commit, date, node, cpu, cores, memoryGib, load, size }: Environment): string =>
  `${date}  commit ${commit}  node ${node}  ${cores} x ${cpu}  ${memoryGib} GiB` +
  `${load === undefined ? '' : `  load ${load}`}${size === undefined ? '' : `  size ${size}`}`;
