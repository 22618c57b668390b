import { expect, test } from 'vitest';
import { createFontReports } from './font-reports.js';

test('each missing package is reported once, with the command that installs it', () => {
  const reported: string[] = [];
  const report = createFontReports((problem) => reported.push(problem));
  report([]);
  report(['noto-sans-lao', 'noto-sans-khmer']);
  report(['noto-sans-lao']);
  expect(reported).toEqual([
    expect.stringContaining('noto-sans-lao is not installed; install it with "npm install noto-sans-lao"'),
    expect.stringContaining('noto-sans-khmer is not installed; install it with "npm install noto-sans-khmer"'),
  ]);
});
