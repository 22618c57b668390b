/** Sizes what takes memory by the memory that this process may use. */
import { totalmem } from 'node:os';

const mib = 2 ** 20;
/** What a machine has for each drawing process, of which one takes 150 to 900 MB. */
const bytesPerDrawingProcess = 1_024 * mib;
/** One of them is reserved for small maps. */
const minDrawingProcesses = 2;
/** With three gigabytes, each thread has the young generation that makes it fastest. */
const youngShare = 16;
/** Less than a machine that is sold with 1 GB has. */
const leastNodeMib = 896;
/** The server itself, drawing and the file cache need the rest. */
const queryShare = 4;
const maxQueryMib = 1_024;

/** Returns the memory of this process in bytes: that of the machine, or less by the limit of its control group. */
export function usableMemoryBytes(constrained = process.constrainedMemory(), total = totalmem()): number {
  // Zero, or more than there is, where nothing limits it.
  return constrained > 0 ? Math.min(constrained, total) : total;
}

/** Returns how many drawing processes a node has if no setting says so. */
export const drawingProcesses = (processors: number, memoryBytes: number): number =>
  Math.max(minDrawingProcesses, Math.min(processors - 1, Math.floor(memoryBytes / bytesPerDrawingProcess)));

/**
 * Returns the most memory of young objects in a thread, in MiB, where `bestMib` makes it fastest. Threads of a small
 * machine take less, and collect garbage more often.
 */
export const youngGenerationMib = (memoryBytes: number, bestMib: number): number =>
  Math.min(bestMib, Math.floor(memoryBytes / youngShare / mib));

/** Returns the memory of one analytics query in the process of the server, in MiB. */
export const queryMemoryMib = (memoryBytes: number): number =>
  Math.min(maxQueryMib, Math.floor(memoryBytes / queryShare / mib));

/** Says that an embedded node has less memory than it needs; undefined if it has enough. */
export function missingMemory(memoryBytes: number): string | undefined {
  const foundMib = Math.floor(memoryBytes / mib);
  if (foundMib >= leastNodeMib) return undefined;
  return (
    `this server may use ${foundMib} MiB of memory and needs 1 GB: the system can end it at any time. ` +
    'See "Disk and memory of one node" in docs/operations.md'
  );
}
