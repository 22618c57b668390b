/**
 * What a batch of one partition does, without any I/O: decoded records and the devices they are about go in; states, events,
 * outcomes, dead letters and who waits for an answer come out.
 */
import type { Codecs } from '../../../schemas/codecs.js';
import type { Event, Location, OutcomeResult } from '../../../schemas/records.js';
import { isId } from '../../catalog/keys.js';
import type { Catalog, Scope } from '../../catalog/types.js';
import { evaluate } from '../../evaluation/evaluate.js';
import type { Evaluation, Surroundings } from '../../evaluation/types.js';
import { type Commit, type NewRecord, topics } from '../../ports.js';
import { type BadRecord, deadLetterOf } from '../dead-letters.js';
import type { DecodedBatch } from './decode.js';
import { type Device, encodeDeviceState } from './devices.js';
import { type Definitions, eventOf } from './events.js';
import { createOutcomeEncoder, type OutcomeTail } from './outcome.js';
import type { Answered } from './reply.js';
import { Slab } from './slab.js';

/** What is to be committed, and what follows once it is. */
export interface Effects {
  readonly states: Commit['states'];
  readonly publish: Commit['publish'];
  readonly results: Readonly<Record<OutcomeResult, number>>;
  readonly events: readonly Event[];
  /** One entry per record, in offset order. */
  readonly deadLetters: readonly BadRecord[];
  readonly answered: readonly Answered[];
}

interface EvaluatorParts {
  readonly codecs: Codecs;
  readonly catalog: Catalog;
  readonly definitions: Definitions;
  readonly clock: () => number;
}

/** Evaluates whole batches. `devices` hold the states before it and, afterwards, those that it left. */
export type EvaluateBatch = (batch: DecodedBatch, devices: ReadonlyMap<string, Device>) => Effects;

export function createBatchEvaluator({ codecs, catalog, definitions, clock }: EvaluatorParts): EvaluateBatch {
  const encodeOutcome = createOutcomeEncoder(codecs);
  const encodeEvent = codecs.event.encodeInto;
  const encodeDeadLetter = codecs.deadLetter.encodeInto;

  return ({ items }, devices) => {
    const slab = new Slab();
    const results = { applied: 0, repeat: 0, stale: 0 };
    const outcomes: NewRecord[] = [];
    const events: Event[] = [];
    const eventRecords: NewRecord[] = [];
    const deadLetters: BadRecord[] = [];
    const answered: Answered[] = [];
    const surroundingsOf = createSurroundingsFinder(catalog);

    for (const item of items) {
      if ('reason' in item) {
        deadLetters.push(item);
        continue;
      }
      const { record, location } = item;
      const surroundings = surroundingsOf(location);
      if (surroundings === undefined) {
        deadLetters.push({ record, reason: 'unknown_project', message: `there is no project ${location.project}` });
        continue;
      }
      const device = devices.get(record.key) as Device;
      const evaluation = evaluate(location, device.state, surroundings);
      if (evaluation.result === 'applied') {
        device.state = evaluation.state;
        device.changed = true;
      }
      const caused = eventsOf(location, evaluation, definitions);
      for (const event of caused) {
        events.push(event);
        eventRecords.push({ key: record.key, value: slab.encode(encodeEvent, event) });
      }
      const tail = outcomeTail(evaluation, caused);
      outcomes.push({
        key: record.key,
        value: slab.encode(encodeOutcome, { location, frame: record.value as Buffer, tail }),
      });
      results[evaluation.result] += 1;
      if (location.replyTo !== null) {
        const { result, user } = evaluation;
        answered.push({ location, replyTo: location.replyTo, result, user, events: caused });
      }
    }

    const failedAt = clock();
    return {
      states: changedStates(devices, slab),
      publish: [
        { topic: topics.outcomes, records: outcomes },
        { topic: topics.events, records: eventRecords },
        {
          topic: topics.deadLetters,
          records: deadLetters.map((bad) => ({
            key: bad.record.key,
            value: slab.encode(encodeDeadLetter, deadLetterOf(topics.locations, bad, failedAt)),
          })),
        },
      ].filter(({ records }) => records.length > 0),
      results,
      events,
      deadLetters,
      answered,
    };
  };
}

/** Finds the surroundings of one location after another; neighbours in a batch tend to share theirs. */
function createSurroundingsFinder(catalog: Catalog): (scope: Scope) => Surroundings | undefined {
  let latest: Scope | undefined;
  let found: Surroundings | undefined;
  return (scope) => {
    if (latest?.project === scope.project && latest.environment === scope.environment) return found;
    latest = scope;
    found = isId(scope.project) ? catalog.surroundings(scope) : undefined;
    return found;
  };
}

const noEvents: readonly Event[] = [];

function eventsOf(location: Location, { user, transitions }: Evaluation, definitions: Definitions): readonly Event[] {
  if (transitions.length === 0) return noEvents;
  return transitions.flatMap((transition) => eventOf(location, user, transition, definitions) ?? []);
}

const idOf = ({ id }: { readonly id: string }): string => id;

const outcomeTail = ({ result, user }: Evaluation, events: readonly Event[]): OutcomeTail => ({
  result,
  user: user.id,
  userCreatedAt: user.createdAt,
  profile: user.profile,
  geofences: user.geofences.map(idOf),
  beacons: user.beacons.map(idOf),
  events: events.map(idOf),
});

function changedStates(devices: ReadonlyMap<string, Device>, slab: Slab): Map<string, Buffer> {
  const states = new Map<string, Buffer>();
  for (const device of devices.values()) {
    if (!device.changed || device.state === undefined) continue;
    states.set(device.key, slab.encode(encodeDeviceState, device.state));
    device.changed = false;
  }
  return states;
}
