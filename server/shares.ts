/**
 * Shares among projects what the API asks of the evaluating thread and of the analytics store. A project that asks for
 * more than its share waits, and then is refused; the others go on.
 */
import type { History } from '../api/history.js';
import { createSearchLimit } from '../pipeline/catalog/queries/search-limit.js';
import type { SpatialQueries } from '../pipeline/catalog/types.js';
import { createFairLimit } from '../pipeline/fair-limit.js';

/** The embedded store has as many connections. */
const maxRunningHistory = 2;
const maxWaitingPerProject = 128;
/** Few clients wait longer for an answer. */
const maxWaitMs = 30_000;
const retryAfterS = 1;

/** Shares spatial queries. Rejects as `overloaded` when too many of a project wait, or one waits over 30 seconds. */
export function shareSpatialQueries(queries: SpatialQueries): SpatialQueries {
  const inTurn = createSearchLimit({ maxWaitingPerProject, maxWaitMs });
  return {
    context: (query, signal) => inTurn(query.project, () => queries.context(query, signal), signal),
    searchGeofences: (query, signal) => inTurn(query.project, () => queries.searchGeofences(query, signal), signal),
    searchBeacons: (query, signal) => inTurn(query.project, () => queries.searchBeacons(query, signal), signal),
    explain: (query, signal) => inTurn(query.project, () => queries.explain(query, signal), signal),
  };
}

/**
 * Shares queries by their parameter `project`. Rejects as `overloaded` when too many of a project wait, or one waits
 * longer than 30 seconds.
 */
export function shareHistory(history: History): History {
  const inTurn = createFairLimit({
    maxRunning: maxRunningHistory,
    maxWaitingPerProject,
    maxWaitMs,
    refusal: 'too many queries of this project are waiting',
    retryAfterS,
  });
  return {
    query: (sql, parameters, signal) =>
      inTurn(`${parameters?.project}`, () => history.query(sql, parameters, signal), signal),
    file: (sql, format, parameters, signal) =>
      inTurn(`${parameters?.project}`, () => history.file(sql, format, parameters, signal), signal),
  };
}
