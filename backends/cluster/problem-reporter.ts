const reportIntervalMs = 60_000;
const maxRemembered = 100;

/**
 * Returns a function that reports each kind of problem at most once a minute; by default each message is a kind. An
 * outage causes the same few many times a second.
 */
export function createProblemReporter(onProblem: (message: string) => void): (message: string, kind?: string) => void {
  const reportedAtMs = new Map<string, number>();
  return (message, kind = message) => {
    const nowMs = performance.now();
    const lastMs = reportedAtMs.get(kind);
    if (lastMs !== undefined && nowMs - lastMs < reportIntervalMs) return;
    if (reportedAtMs.size === maxRemembered) reportedAtMs.clear();
    reportedAtMs.set(kind, nowMs);
    onProblem(message);
  };
}
