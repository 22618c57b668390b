/** Reads the memory of processes and estimates its growth. Linux only. */
import { readFileSync } from 'node:fs';

/** Returns the ids of running child processes. */
export function childProcesses(): number[] {
  const { pid } = process;
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

/** Returns the private resident memory, without mapped files. Throws if the process has ended. */
export function ownMemoryMib(pid: number): number {
  const kib = /RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1_024;
}

/** Returns the processor time of this process's main thread, in seconds. */
export function mainThreadSeconds(): number {
  const { pid } = process;
  // The name of the thread, in parentheses, may contain spaces. Times are in hundredths of a second.
  const [, fields = ''] = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(11, 13).map(Number) as [number, number];
  return (user + system) / 100;
}

/** Fits a line by least squares. Returns its slope and the standard error of the slope. */
export function slope(
  xs: readonly number[],
  ys: readonly number[],
): { readonly slope: number; readonly error: number } {
  const meanX = mean(xs);
  const meanY = mean(ys);
  const spreadX = sum(xs.map((x) => (x - meanX) ** 2));
  const slope = sum(xs.map((x, i) => (x - meanX) * ((ys[i] as number) - meanY))) / spreadX;
  const rest = sum(xs.map((x, i) => ((ys[i] as number) - meanY - slope * (x - meanX)) ** 2));
  return { slope, error: Math.sqrt(rest / Math.max(1, xs.length - 2) / spreadX) };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;
