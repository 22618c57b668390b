/**
 * Evaluates a batch of one partition, without I/O. Input: decoded records and the states of their devices. Output: the
 * effects to commit (states, events, outcomes, dead letters) and the locations whose requests wait for a reply.
 */
import type { Codecs } from '../../../schemas/codecs.js';
import { isId } from '../../../schemas/ids.js';
import type { OutcomeTail } from '../../../schemas/record-writers.js';
import type { Event, Location, OutcomeResult } from '../../../schemas/records.js';
import { isSameScope } from '../../catalog/scope.js';
import { isProjectDeleted } from '../../catalog/store/tables/revisions.js';
import type { Catalog, Scope } from '../../catalog/types.js';
import { evaluate } from '../../evaluation/evaluate.js';
import type { Evaluation, EvaluationContext } from '../../evaluation/types.js';
import { type Commit, type LogRecord, type NewRecord, topics } from '../../ports.js';
import { type BadRecord, isBadRecord } from '../../records/decode.js';
import { encodeDeviceState } from '../../records/device-state.js';
import { erasedUsers, isErasureCommand, withoutErased } from '../../records/erasure-command.js';
import { type EncodeInto, Slab } from '../../records/slab.js';
import { deadLetterOf } from '../dead-letters.js';
import type { BatchTrace } from './batch-trace.js';
import type { DecodedBatch } from './decode.js';
import type { Definitions } from './definitions.js';
import type { Device } from './device-states.js';
import { eventsOf } from './events.js';
import { createOutcomeEncoder, type EncodableOutcome } from './outcome.js';
import type { AwaitedLocation } from './reply.js';

/** Receives the evaluation of each record, or the reason for a dead letter, in offset order. */
export interface Collector {
  /** No further record is evaluated once it is true. */
  readonly isFull: boolean;
  collect(record: LogRecord, location: Location, evaluation: Evaluation): void;
  deadLetter(bad: BadRecord): void;
}

/**
 * Evaluates records in offset order, each location against its device and context. Updates the states in `devices`.
 * Returns the number of records that were evaluated: all, unless the collector is full before.
 */
export function evaluateRecords(
  { records, items }: DecodedBatch,
  devices: ReadonlyMap<string, Device>,
  catalog: Catalog,
  collector: Collector,
): number {
  const contextOf = createContextLookup(catalog);
  for (let index = 0; index < items.length; index++) {
    if (collector.isFull) return index;
    const record = records[index] as LogRecord;
    const item = items[index] as Location | BadRecord;
    if (isBadRecord(item)) {
      collector.deadLetter(item);
      continue;
    }
    if (isErasureCommand(item)) {
      erase(item, devices.get(record.key) as Device);
      continue;
    }
    const context = contextOf(item);
    if (context === undefined) {
      // Locations that were on their way when the project was deleted are dropped.
      if (isProjectDeleted(catalog.configuration, item.project)) continue;
      collector.deadLetter({ record, reason: 'unknown_project', message: `there is no project ${item.project}` });
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
  return items.length;
}

/** Removes users from the device's state. A command has neither outcome nor events. */
function erase(command: Location, device: Device): void {
  if (device.state === undefined || erasedUsers(command, device.state).length === 0) return;
  device.state = withoutErased(command, device.state);
  device.changed = true;
}

/** Creates a lookup of evaluation contexts that caches the latest: neighbours in a batch tend to share it. */
function createContextLookup(catalog: Catalog): (scope: Scope) => EvaluationContext | undefined {
  let latest: Scope | undefined;
  let found: EvaluationContext | undefined;
  return (scope) => {
    if (latest !== undefined && isSameScope(latest, scope)) return found;
    latest = scope;
    found = isId(scope.project) ? catalog.context(scope) : undefined;
    return found;
  };
}

/** The effects of a batch: what to commit, and what follows the commit. */
export interface Effects {
  /** Number of records that have these effects. The rest of the batch is not evaluated. */
  readonly evaluated: number;
  readonly states: Commit['states'];
  readonly publish: Commit['publish'];
  readonly results: Readonly<Record<OutcomeResult, number>>;
  readonly events: readonly Event[];
  /** Geofences and beacons that were not entered because of the limit on visits. */
  readonly notEntered: number;
  /** In offset order. */
  readonly deadLetters: readonly BadRecord[];
  /** Locations whose requests wait for a reply. */
  readonly awaited: readonly AwaitedLocation[];
}

interface EvaluatorParts {
  readonly codecs: Codecs;
  readonly catalog: Catalog;
  readonly definitions: Definitions;
  /** Bytes to publish after which the rest of a batch waits for the next commit. */
  readonly maxCommitBytes: number;
  /** Time of evaluation after which the rest of a batch waits for the next commit. */
  readonly maxEvaluationMs: number;
}

/** Evaluates a batch, or as much of it as one commit may publish. Updates the states in `devices`. */
type EvaluateBatch = (
  batch: DecodedBatch,
  devices: ReadonlyMap<string, Device>,
  trace?: Pick<BatchTrace, 'headersFor'>,
) => Effects;

/** Creates the evaluator of a stage. It keeps no state between batches. */
export function createBatchEvaluator(parts: EvaluatorParts): EvaluateBatch {
  const encodeOutcome = createOutcomeEncoder(parts.codecs);

  return (batch, devices, trace) => {
    const run = new BatchCollector(parts, encodeOutcome, trace);
    const evaluated = evaluateRecords(batch, devices, parts.catalog, run);
    return run.effects(devices, evaluated);
  };
}

/** Collects the effects record by record. */
class BatchCollector implements Collector {
  readonly #parts: EvaluatorParts;
  readonly #encodeOutcome: EncodeInto<EncodableOutcome>;
  readonly #trace: Pick<BatchTrace, 'headersFor'> | undefined;
  readonly #slab = new Slab();
  /** Set by the first location, so that each commit has one at least. */
  #startedAtMs: number | undefined;
  readonly #results = { applied: 0, repeat: 0, stale: 0 };
  readonly #outcomeRecords: NewRecord[] = [];
  #notEntered = 0;
  #bytes = 0;
  readonly #events: Event[] = [];
  readonly #eventRecords: NewRecord[] = [];
  readonly #deadLetters: BadRecord[] = [];
  readonly #awaited: AwaitedLocation[] = [];

  constructor(
    parts: EvaluatorParts,
    encodeOutcome: EncodeInto<EncodableOutcome>,
    trace: Pick<BatchTrace, 'headersFor'> | undefined,
  ) {
    this.#parts = parts;
    this.#encodeOutcome = encodeOutcome;
    this.#trace = trace;
  }

  get isFull(): boolean {
    if (this.#startedAtMs === undefined) return false;
    const { maxCommitBytes, maxEvaluationMs } = this.#parts;
    return this.#bytes >= maxCommitBytes || performance.now() - this.#startedAtMs >= maxEvaluationMs;
  }

  deadLetter(bad: BadRecord): void {
    this.#deadLetters.push(bad);
  }

  collect(record: LogRecord, location: Location, evaluation: Evaluation): void {
    this.#startedAtMs ??= performance.now();
    const { key, value } = record;
    const events = this.#collectEvents(record, location, evaluation);
    const outcome = { location, frame: value as Buffer, tail: outcomeTail(evaluation, events) };
    const encoded = this.#slab.encode(this.#encodeOutcome, outcome);
    this.#outcomeRecords.push({ key, value: encoded });
    this.#bytes += encoded.length;
    this.#results[evaluation.result] += 1;
    this.#notEntered += evaluation.notEntered;
    if (location.replyTo === null) return;
    const { result, user, notEntered } = evaluation;
    this.#awaited.push({ location, replyTo: location.replyTo, result, user, events, notEntered });
  }

  #collectEvents(record: LogRecord, location: Location, { user, transitions }: Evaluation): readonly Event[] {
    if (transitions.length === 0) return noEvents;
    const { codecs, definitions } = this.#parts;
    const events = eventsOf(location, user, transitions, definitions);
    const headers = this.#trace?.headersFor(record);
    for (const event of events) {
      this.#events.push(event);
      const value = this.#slab.encode(codecs.event.encodeInto, event);
      this.#eventRecords.push({ key: record.key, value, ...(headers && { headers }) });
      this.#bytes += value.length;
    }
    return events;
  }

  effects(devices: ReadonlyMap<string, Device>, evaluated: number): Effects {
    return {
      evaluated,
      states: this.#takeStates(devices),
      publish: [
        { topic: topics.outcomes, records: this.#outcomeRecords },
        { topic: topics.events, records: this.#eventRecords },
        { topic: topics.deadLetters, records: this.#deadLetterRecords() },
      ].filter(({ records }) => records.length > 0),
      results: this.#results,
      events: this.#events,
      notEntered: this.#notEntered,
      deadLetters: this.#deadLetters,
      awaited: this.#awaited,
    };
  }

  #takeStates(devices: ReadonlyMap<string, Device>): Map<string, Buffer | null> {
    const states = new Map<string, Buffer | null>();
    for (const device of devices.values()) {
      if (!device.changed) continue;
      states.set(device.key, device.state === undefined ? null : this.#slab.encode(encodeDeviceState, device.state));
      device.changed = false;
    }
    return states;
  }

  #deadLetterRecords(): NewRecord[] {
    const { codecs } = this.#parts;
    return this.#deadLetters.map((bad) => ({
      key: bad.record.key,
      value: codecs.deadLetter.encode(deadLetterOf(topics.locations, bad)),
    }));
  }
}

const noEvents: readonly Event[] = [];
const noIds: string[] = [];

const idsOf = (things: readonly { readonly id: string }[]): string[] =>
  things.length === 0 ? noIds : things.map(({ id }) => id);

const outcomeTail = ({ result, user }: Evaluation, events: readonly Event[]): OutcomeTail => ({
  result,
  user: user.id,
  userCreatedAt: user.createdAt,
  profile: user.profile,
  geofences: idsOf(user.geofences),
  beacons: idsOf(user.beacons),
  events: idsOf(events),
});
