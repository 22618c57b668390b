import fc from 'fast-check';
import { expect, test } from 'vitest';
import { importProgress, lineOf, progressLine, replayProgress, sendingProgress } from './progress.js';

const some = { bytesRead: 500, bytesTotal: 1_000, rows: 1_234, rejected: 2 } as Parameters<typeof importProgress>[0];

test('a line tells the share, the rows, the bad rows and the rate, and a narrow one less', () => {
  const progress = importProgress(some, 500);
  expect(lineOf(progress, 80)).toBe(`${'█'.repeat(12)}${'░'.repeat(12)}  50 %  1,234 rows  2 rejected  2,468/s`);
  expect(lineOf(progress, 46)).toBe('███░░░  50 %  1,234 rows  2 rejected  2,468/s');
  expect(lineOf(progress, 30)).toBe(' 50 %  1,234 rows  2 rejected');
  expect(lineOf(sendingProgress(1, 1), 20)).toBe('████ 100 %  sending');
  expect(lineOf(replayProgress(1_500, 6_000, 500), 46)).toBe('███░░░░░░░░░░  25 %  1,500 locations  3,000/s');
});

test('a line without a known end has no bar', () => {
  expect(lineOf({ parts: ['3 created', '4 updated'] }, 80)).toBe('3 created  4 updated');
  expect(lineOf({ parts: ['3 created', '4 updated'] }, 12)).toBe('3 created');
});

test('no line wraps, and each tells the share', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 6, max: 120 }),
      fc.nat(2e9),
      fc.nat(2e9),
      fc.nat(1e6),
      (columns, rows, rejected, ms) => {
        const line = lineOf(importProgress({ ...some, rows, rejected }, ms), columns);
        expect(line.length).toBeLessThan(columns);
        expect(line).toContain('50 %');
      },
    ),
  );
});

test('nothing is written where there is no terminal', () => {
  const written: string[] = [];
  const write = (text: string | Uint8Array) => written.push(String(text)) > 0;
  for (const isTTY of [false, true]) {
    const line = progressLine({ isTTY, columns: 20, write });
    line.show(sendingProgress(1, 2));
    line.end();
  }
  expect(written).toEqual(['\r\u001b[K██░░  50 %  sending', '\r\u001b[K']);
});

test('a line is written five times a second at most, and at once after its end', () => {
  const written: string[] = [];
  let nowMs = 0;
  const write = (text: string | Uint8Array) => written.push(String(text)) > 0;
  const line = progressLine({ isTTY: true, columns: 80, write }, () => nowMs);
  for (const atMs of [0, 100, 199, 200, 300]) {
    nowMs = atMs;
    line.show({ parts: [`at ${atMs}`] });
  }
  line.end();
  line.end();
  line.show({ parts: ['again'] });
  expect(written).toEqual(['\r\u001b[Kat 0', '\r\u001b[Kat 200', '\r\u001b[K', '\r\u001b[Kagain']);
});
