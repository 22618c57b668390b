import { expect, test } from 'vitest';
import { drawingProcesses, missingMemory, queryMemoryMib, usableMemoryBytes, youngGenerationMib } from './memory.js';

const gib = 2 ** 30;

test('the limit of a control group counts, unless it is absent or beyond the machine', () => {
  expect(usableMemoryBytes(gib, 24 * gib)).toBe(gib);
  expect(usableMemoryBytes(0, 24 * gib)).toBe(24 * gib);
  expect(usableMemoryBytes(2 ** 63, 24 * gib)).toBe(24 * gib);
});

// A container with 2 GiB on a machine with 8 cores had 7 processes, at 150 to 900 MB each.
test('regression: drawing processes were counted by cores alone', () => {
  expect(drawingProcesses(8, 2 * gib)).toBe(2);
  expect(drawingProcesses(8, 4 * gib)).toBe(4);
  expect(drawingProcesses(8, 16 * gib)).toBe(7);
  expect(drawingProcesses(1, gib / 2)).toBe(2);
});

// The kernel ends a process without a word, so nothing told its operator that it had too little memory.
test('regression: a server with too little memory did not say so', () => {
  expect(missingMemory(0.5 * gib)).toMatch('may use 512 MiB of memory and needs 1 GB');
  // What the system leaves of 1 GB.
  expect(missingMemory(0.9 * gib)).toBeUndefined();
});

// Three threads of a server with 768 MB had up to 192 MiB each for objects that were garbage.
test('regression: young generations did not follow the memory', () => {
  expect(youngGenerationMib(0.75 * gib, 192)).toBe(48);
  expect(youngGenerationMib(4 * gib, 192)).toBe(192);
});

// The store allowed a query 1 GiB, and the kernel ended the server of 768 MB without a word.
test('regression: a query could take more memory than the server had', () => {
  expect(queryMemoryMib(0.75 * gib)).toBe(192);
  expect(queryMemoryMib(24 * gib)).toBe(1_024);
});
