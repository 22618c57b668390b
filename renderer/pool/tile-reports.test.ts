import { expect, test } from 'vitest';
import { createTileReports } from './tile-reports.js';

test('a source that is away is told of at once, and then once a minute with all that was missed', () => {
  const told: string[] = [];
  let nowMs = 1_000_000;
  const report = createTileReports(
    (problem) => told.push(problem),
    () => nowMs,
  );
  const away = { missingTiles: 2, tileProblem: 'timed_out: no answer' };
  const there = { missingTiles: 0, tileProblem: null };

  report(there);
  report(away);
  report(away);
  nowMs += 59_999;
  report(away);
  expect(told).toEqual(['tiles that could not be had: 2, the last because of: timed_out: no answer']);
  nowMs += 1;
  report(there);
  report({ ...away, tileProblem: 'the tile server answers with status 500' });
  expect(told.slice(1)).toEqual([
    'tiles that could not be had: 6, the last because of: the tile server answers with status 500',
  ]);
});
