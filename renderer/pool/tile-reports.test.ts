import { expect, test } from 'vitest';
import { createTileReports } from './tile-reports.js';

test('an unreachable source is reported at once, then once a minute with the number of missing tiles', () => {
  const reported: string[] = [];
  let nowMs = 1_000_000;
  const report = createTileReports(
    (problem) => reported.push(problem),
    () => nowMs,
  );
  const away = { missingTiles: 2, tileProblem: 'timed_out: no answer' };
  const there = { missingTiles: 0, tileProblem: null };

  report(there);
  report(away);
  report(away);
  nowMs += 59_999;
  report(away);
  expect(reported).toEqual(['2 tiles could not be read, the last because of: timed_out: no answer']);
  nowMs += 1;
  report(there);
  report({ ...away, tileProblem: 'the tile server answers with status 500' });
  expect(reported.slice(1)).toEqual([
    '6 tiles could not be read, the last because of: the tile server answers with status 500',
  ]);
});

// Maps lacked tiles for an hour, and the log did not say so.
test('regression: nothing was reported until a clock that was set back had caught up', () => {
  const reported: string[] = [];
  let nowMs = 10_000_000;
  const report = createTileReports(
    (problem) => reported.push(problem),
    () => nowMs,
  );
  report({ missingTiles: 1, tileProblem: 'timed_out: no answer' });
  nowMs -= 3_600_000;
  report({ missingTiles: 2, tileProblem: 'timed_out: no answer' });
  expect(reported).toHaveLength(2);
});
