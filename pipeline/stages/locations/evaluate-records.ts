/** The heart of a batch: its records in offset order, each location against its device and its context. No I/O. */
import type { Location } from '../../../schemas/records.js';
import { isId } from '../../catalog/store/keys.js';
import type { Catalog, Scope } from '../../catalog/types.js';
import { evaluate } from '../../evaluation/evaluate.js';
import type { Evaluation, EvaluationContext } from '../../evaluation/types.js';
import type { LogRecord } from '../../ports.js';
import type { BadRecord } from '../../records/decode.js';
import { type DecodedBatch, isBad } from './decode.js';
import type { Device } from './devices.js';

/** Is told of each record, in their order, either what came of it or why nothing did. */
export interface Collector {
  collect(record: LogRecord, location: Location, evaluation: Evaluation): void;
  bury(bad: BadRecord): void;
}

/** `devices` hold the states before the batch and, afterwards, those that it left. */
export function evaluateRecords(
  { records, items }: DecodedBatch,
  devices: ReadonlyMap<string, Device>,
  catalog: Catalog,
  collector: Collector,
): void {
  const contextOf = createContextFinder(catalog);
  for (let index = 0; index < items.length; index++) {
    const record = records[index] as LogRecord;
    const item = items[index] as Location | BadRecord;
    if (isBad(item)) {
      collector.bury(item);
      continue;
    }
    const context = contextOf(item);
    if (context === undefined) {
      collector.bury({ record, reason: 'unknown_project', message: `there is no project ${item.project}` });
      continue;
    }
    const device = devices.get(record.key) as Device;
    const evaluation = evaluate(item, device.state, context);
    if (evaluation.result === 'applied') {
      device.state = evaluation.state;
      device.changed = true;
    }
    collector.collect(record, item, evaluation);
  }
}

/** Finds the context of one location after another; neighbours in a batch tend to share theirs. */
function createContextFinder(catalog: Catalog): (scope: Scope) => EvaluationContext | undefined {
  let latest: Scope | undefined;
  let found: EvaluationContext | undefined;
  return (scope) => {
    if (latest?.project === scope.project && latest.environment === scope.environment) return found;
    latest = scope;
    found = isId(scope.project) ? catalog.context(scope) : undefined;
    return found;
  };
}
