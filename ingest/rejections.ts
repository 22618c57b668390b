/**
 * Counts the rejected locations by the rule that they break, for users who ask why locations are missing.
 *
 * Input: problems of single locations, of requests with a valid key. Output: once a second and at shutdown, one
 * `Rejection` record per project, environment, endpoint, code and field on topic `rejections`. Best effort: a process
 * that is killed loses the counts of its last second.
 */
import { TrackRequest } from '../http/location/schema.js';
import type { Scope } from '../pipeline/catalog/types.js';
import { isPortError } from '../pipeline/errors.js';
import { createFailure } from '../pipeline/failure.js';
import { type Log, type NewRecord, topics } from '../pipeline/ports.js';
import { codecs } from '../schemas/codecs.js';
import type { ErrorCode, FieldProblem } from '../schemas/errors.js';
import { freshId } from '../schemas/ids.js';
import type { Rejection } from '../schemas/records.js';

/** Counts refused locations. Counts that are not stored yet are lost in a crash. */
export interface RejectionCounter {
  add(scope: Scope, endpoint: 'track' | 'replay' | 'bulk', problem: FieldProblem): void;
}

interface RunningRejectionCounter extends RejectionCounter {
  /** Rejects when counts cannot be appended because of an unexpected error. */
  readonly done: Promise<void>;
  /** Appends the counts. `add` must not be called afterwards. */
  close(): Promise<void>;
}

/** Anonymous devices keep their own state and would require answers that are computed from it. */
export const refusalCode = ({ param }: FieldProblem): ErrorCode =>
  param === 'anonymous' ? 'not_available' : 'invalid_parameter';

/** `line`: the line is not a location at all. */
const fields = new Set([...Object.keys(TrackRequest.properties), 'anonymous', 'ip', 'line']);

/**
 * Returns the name of the field at fault. Names that the sender chose, such as the key in `metadata.{key}`, are left
 * out.
 */
function fieldOf({ param }: FieldProblem): string | null {
  const [field = ''] = param.split('.', 1);
  return fields.has(field) ? field : null;
}

const intervalMs = 1_000;
/** Distinct counts within an interval; more are dropped. */
const maxDifferent = 10_000;

type Counted = Omit<Rejection, 'id' | 'at'>;

/** Starts counting. Appends what was counted to topic `rejections` every second. `clock` returns epoch ms. */
export function startRejectionCounter(log: Pick<Log, 'append'>, clock: () => number): RunningRejectionCounter {
  let counted = new Map<string, Counted>();
  let appending: Promise<void> = Promise.resolve();
  const { failed, fail } = createFailure();

  function count(one: Counted): void {
    const key = JSON.stringify([one.project, one.environment, one.endpoint, one.code, one.param]);
    const same = counted.get(key);
    if (same !== undefined) same.count += one.count;
    else if (counted.size < maxDifferent) counted.set(key, one);
  }

  async function append(): Promise<void> {
    const taken = [...counted.values()];
    if (taken.length === 0) return;
    counted = new Map();
    try {
      await log.append(topics.rejections, taken.map(recordAt(clock())));
    } catch (error) {
      // The counts are added to those of the next interval.
      if (!isPortError(error)) throw error;
      taken.forEach(count);
    }
  }

  const timer = setInterval(() => {
    appending = appending.then(append);
    appending.catch(fail);
  }, intervalMs);
  timer.unref();

  return {
    add({ project, environment }, endpoint, problem) {
      count({ project, environment, endpoint, code: refusalCode(problem), param: fieldOf(problem), count: 1 });
    },
    done: failed,
    async close() {
      clearInterval(timer);
      await appending;
      await append();
    },
  };
}

const recordAt =
  (at: number) =>
  (counted: Counted): NewRecord => ({
    key: `${counted.project}/${counted.environment}`,
    value: codecs.rejection.encode({ ...counted, id: freshId(at), at }),
  });
