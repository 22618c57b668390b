/** Metrics of the batches that the location stage commits. */
import type { LogRecord } from '../../ports.js';
import type { Metrics } from '../metrics.js';
import type { Effects } from './evaluate-batch.js';

/** Counts things by label, so that a metric is added to once per batch: adding is more expensive than counting. */
function countBy<T>(things: readonly T[], labelOf: (thing: T) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const thing of things) counts.set(labelOf(thing), (counts.get(labelOf(thing)) ?? 0) + 1);
  return counts;
}

/** Observes a committed batch and its effects. Times are epoch ms. */
export function observeBatch(
  metrics: Metrics,
  records: readonly LogRecord[],
  { results, events, notEntered, deadLetters }: Effects,
  { startedAtMs, endedAtMs }: { readonly startedAtMs: number; readonly endedAtMs: number },
): void {
  metrics.observe('location_batch_records', records.length);
  metrics.observe('location_batch_seconds', (endedAtMs - startedAtMs) / 1_000);
  metrics.observe('location_lag_seconds', (endedAtMs - (records[0] as LogRecord).timestamp) / 1_000);
  for (const [result, count] of Object.entries(results)) {
    if (count > 0) metrics.add('locations_evaluated_total', count, result);
  }
  for (const [type, count] of countBy(events, (event) => event.type))
    metrics.add('events_generated_total', count, type);
  if (notEntered > 0) metrics.add('visits_not_entered_total', notEntered);
  for (const [reason, count] of countBy(deadLetters, (bad) => bad.reason))
    metrics.add('dead_letters_total', count, reason);
}
