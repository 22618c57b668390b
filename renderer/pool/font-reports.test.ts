import { expect, test } from 'vitest';
import { createFontReports } from './font-reports.js';

test('each missing package is reported once', () => {
  const reported: string[] = [];
  const report = createFontReports((problem) => reported.push(problem));
  report([]);
  report(['noto-sans-lao', 'noto-sans-khmer']);
  report(['noto-sans-lao']);
  expect(reported).toEqual([
    expect.stringContaining('noto-sans-lao is not installed'),
    expect.stringContaining('noto-sans-khmer is not installed'),
  ]);
});
