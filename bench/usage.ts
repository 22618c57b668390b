/** The processor time and memory of a process with its descendants. Linux only. */
import { readFileSync } from 'node:fs';
import type { Usage } from './peers/engine.js';

const ticksPerSecond = 100;

/** Returns the usage of a process and all its descendants. Throws if one of them has ended. */
export function usageOf(pid: number): Usage {
  const usages = [processUsage(pid), ...childrenOf(pid).map(usageOf)];
  return {
    processorS: usages.reduce((sum, { processorS }) => sum + processorS, 0),
    memoryMib: usages.reduce((sum, { memoryMib }) => sum + memoryMib, 0),
  };
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

function processUsage(pid: number): Usage {
  const memory = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  // Processes share some pages: each counts its part.
  const kib = (field: string): number => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(memory)?.[1] ?? 0);
  return { processorS: processorSeconds(pid), memoryMib: (kib('Pss_Anon') + kib('Pss_Shmem')) / 1_024 };
}

/** Returns the processor time of all threads of a process, in seconds. */
export function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}
