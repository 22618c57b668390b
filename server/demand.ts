/** Tells whether a node answers requests at present, so that background work of its main thread takes short turns. */
export interface Demand {
  /** Notes that a request was answered. */
  note(): void;
  isServing(): boolean;
}

/** Time after an answer during which more requests are expected. */
const recentMs = 200;

/** Creates the record of the last answer. A node serves if it has answered within 200 ms. */
export function createDemand(clockMs: () => number = () => performance.now()): Demand {
  let answeredMs = Number.NEGATIVE_INFINITY;
  return {
    note() {
      answeredMs = clockMs();
    },
    isServing: () => clockMs() - answeredMs < recentMs,
  };
}
