/** Shares the searches of the evaluating thread among projects. */
import { createFairLimit, type FairLimit, type FairLimitOptions } from '../../fair-limit.js';

/** Searches yield to each other, so each running one makes the others slower. */
const maxRunning = 8;
const retryAfterS = 1;

/** Creates a limit of eight searches that run. The bounds of those that wait depend on who waits for their results. */
export const createSearchLimit = (
  waiting: Required<Pick<FairLimitOptions, 'maxWaitingPerProject' | 'maxWaitMs'>>,
): FairLimit =>
  createFairLimit({ maxRunning, retryAfterS, refusal: 'too many searches of this project are waiting', ...waiting });
