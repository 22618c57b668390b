/**
 * What a batch of one partition does, without any I/O: decoded records and the devices they are about go in; states,
 * events, outcomes, dead letters and who waits for an answer come out.
 */
import type { Codecs } from '../../../schemas/codecs.js';
import type { Event, Location, OutcomeResult } from '../../../schemas/records.js';
import type { Catalog } from '../../catalog/types.js';
import type { Evaluation } from '../../evaluation/types.js';
import { type Commit, type LogRecord, type NewRecord, topics } from '../../ports.js';
import type { BadRecord } from '../../records/decode.js';
import { encodeDeviceState } from '../../records/device-state.js';
import { type EncodeInto, Slab } from '../../records/slab.js';
import { deadLetterOf } from '../dead-letters.js';
import type { DecodedBatch } from './decode.js';
import type { Device } from './devices.js';
import { type Collector, evaluateRecords } from './evaluate-records.js';
import { type Definitions, eventOf } from './events.js';
import { createOutcomeEncoder, type EncodableOutcome, type OutcomeTail } from './outcome.js';
import type { Answered } from './reply.js';

/** What is to be committed, and what follows once it is. */
export interface Effects {
  readonly states: Commit['states'];
  readonly publish: Commit['publish'];
  readonly results: Readonly<Record<OutcomeResult, number>>;
  readonly events: readonly Event[];
  /** Geofences and beacons that were not entered because of the bound on visits. */
  readonly notEntered: number;
  /** In offset order. */
  readonly deadLetters: readonly BadRecord[];
  readonly answered: readonly Answered[];
}

export interface EvaluatorParts {
  readonly codecs: Codecs;
  readonly catalog: Catalog;
  readonly definitions: Definitions;
  readonly clock: () => number;
}

/** `devices` hold the states before the batch and, afterwards, those that it left. */
export type EvaluateBatch = (batch: DecodedBatch, devices: ReadonlyMap<string, Device>) => Effects;

export function createBatchEvaluator(parts: EvaluatorParts): EvaluateBatch {
  const encodeOutcome = createOutcomeEncoder(parts.codecs);

  return (batch, devices) => {
    const run = new BatchRun(parts, encodeOutcome);
    evaluateRecords(batch, devices, parts.catalog, run);
    return run.effects(devices);
  };
}

/** Collects, record by record, what is to be written. */
class BatchRun implements Collector {
  readonly #parts: EvaluatorParts;
  readonly #encodeOutcome: EncodeInto<EncodableOutcome>;
  readonly #slab = new Slab();
  readonly #results = { applied: 0, repeat: 0, stale: 0 };
  readonly #outcomeRecords: NewRecord[] = [];
  #notEntered = 0;
  readonly #events: Event[] = [];
  readonly #eventRecords: NewRecord[] = [];
  readonly #deadLetters: BadRecord[] = [];
  readonly #answered: Answered[] = [];

  constructor(parts: EvaluatorParts, encodeOutcome: EncodeInto<EncodableOutcome>) {
    this.#parts = parts;
    this.#encodeOutcome = encodeOutcome;
  }

  bury(bad: BadRecord): void {
    this.#deadLetters.push(bad);
  }

  collect({ key, value }: LogRecord, location: Location, evaluation: Evaluation): void {
    const events = this.#collectEvents(key, location, evaluation);
    const outcome = { location, frame: value as Buffer, tail: outcomeTail(evaluation, events) };
    this.#outcomeRecords.push({ key, value: this.#slab.encode(this.#encodeOutcome, outcome) });
    this.#results[evaluation.result] += 1;
    this.#notEntered += evaluation.notEntered;
    if (location.replyTo === null) return;
    const { result, user, notEntered } = evaluation;
    this.#answered.push({ location, replyTo: location.replyTo, result, user, events, notEntered });
  }

  #collectEvents(key: string, location: Location, { user, transitions }: Evaluation): readonly Event[] {
    if (transitions.length === 0) return noEvents;
    const { codecs, definitions } = this.#parts;
    const events = transitions.flatMap((transition) => eventOf(location, user, transition, definitions) ?? []);
    for (const event of events) {
      this.#events.push(event);
      this.#eventRecords.push({ key, value: this.#slab.encode(codecs.event.encodeInto, event) });
    }
    return events;
  }

  effects(devices: ReadonlyMap<string, Device>): Effects {
    return {
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
      answered: this.#answered,
    };
  }

  #takeStates(devices: ReadonlyMap<string, Device>): Map<string, Buffer> {
    const states = new Map<string, Buffer>();
    for (const device of devices.values()) {
      if (!device.changed || device.state === undefined) continue;
      states.set(device.key, this.#slab.encode(encodeDeviceState, device.state));
      device.changed = false;
    }
    return states;
  }

  #deadLetterRecords(): NewRecord[] {
    const { codecs, clock } = this.#parts;
    const failedAt = clock();
    return this.#deadLetters.map((bad) => ({
      key: bad.record.key,
      value: codecs.deadLetter.encode(deadLetterOf(topics.locations, bad, failedAt)),
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
