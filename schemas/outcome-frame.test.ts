import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codecs, frameBytes } from './codecs.js';
import { OutcomeFrame, type Span } from './outcome-frame.js';
import type { Outcome } from './records.js';
import { propertyRuns } from './testing/property-runs.js';
import * as arbitrary from './testing/records.js';

/** Returns what a frame has of an outcome. */
function valuesOf(frame: OutcomeFrame) {
  const { bytes } = frame;
  const textOf = ({ start, end }: Span): string => bytes.toString('utf8', start, end);
  const geofences: string[] = [];
  const events: string[] = [];
  const counts = [
    frame.eachGeofence((start, end) => geofences.push(textOf({ start, end }))),
    frame.eachEvent((start, end) => events.push(textOf({ start, end }))),
  ];
  return {
    id: textOf(frame.id),
    project: textOf(frame.project),
    environment: frame.isLive ? 'live' : 'test',
    deviceId: textOf(frame.deviceId),
    userId: textOf(frame.userId),
    user: textOf(frame.user),
    ip: textOf(frame.ip),
    source: textOf(frame.source),
    result: frame.result,
    latitude: bytes.readDoubleLE(frame.latitude),
    longitude: bytes.readDoubleLE(frame.longitude),
    accuracy_m: bytes.readDoubleLE(frame.accuracyM),
    occurredAt: frame.occurredAt,
    receivedAt: frame.receivedAt,
    foreground: frame.foreground,
    stopped: frame.stopped,
    replayed: frame.replayed,
    counts,
    geofences,
    events,
  };
}

const expected = ({ location, user, result, geofences, events }: Outcome) => ({
  id: location.id,
  project: location.project,
  environment: location.environment,
  deviceId: location.deviceId,
  userId: location.userId ?? '',
  user,
  ip: location.ip ?? '',
  source: location.source ?? '',
  result,
  latitude: location.latitude,
  longitude: location.longitude,
  accuracy_m: location.accuracy_m,
  occurredAt: location.occurredAt,
  receivedAt: location.receivedAt,
  foreground: location.foreground,
  stopped: location.stopped,
  replayed: location.replayed,
  counts: [geofences.length, events.length],
  geofences,
  events,
});

function decoded(frame: Buffer): Outcome | undefined {
  try {
    return codecs.outcome.decode(frame);
  } catch {
    return undefined;
  }
}

function read(frame: Buffer): OutcomeFrame | undefined {
  try {
    return new OutcomeFrame().read(frame);
  } catch {
    return undefined;
  }
}

describe('a frame of an outcome', () => {
  it('has the values that the codec decodes', () => {
    const frame = new OutcomeFrame();
    fc.assert(
      fc.property(arbitrary.outcome, (outcome) => {
        expect(valuesOf(frame.read(codecs.outcome.encode(outcome)))).toEqual(expected(outcome));
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  it('is refused where the codec refuses it, whatever bytes are changed, missing or added', () => {
    const change = fc.record({ at: fc.nat(), byte: fc.nat(255) });
    fc.assert(
      fc.property(
        arbitrary.outcome,
        fc.array(change, { maxLength: 2 }),
        fc.integer({ min: -3, max: 2 }),
        (outcome, changes, longer) => {
          const whole = codecs.outcome.encode(outcome);
          const frame = Buffer.alloc(whole.length + longer);
          whole.copy(frame);
          for (const { at, byte } of changes) frame[at % frame.length] = byte;
          const known = decoded(frame);
          const found = read(frame);
          expect(found === undefined).toBe(known === undefined);
          if (found && known) expect(valuesOf(found)).toEqual(expected(known));
        },
      ),
      { numRuns: propertyRuns(3_000) },
    );
  });

  it('reads arrays in several blocks, with and without their size, as other writers make them', () => {
    const whole = codecs.outcome.encode({ ...fc.sample(arbitrary.outcome, 1)[0]!, geofences: [], events: [] });
    const item = Buffer.from('\u0006abc');
    const block = Buffer.concat([Buffer.from([2]), item, Buffer.from([3, 8 * 2]), item, item, Buffer.from([0])]);
    // Count -2, then eight bytes of two items.
    const frame = Buffer.concat([whole.subarray(0, -1), block]);
    const outcome = codecs.outcome.decode(frame);
    expect(outcome.events).toEqual(['abc', 'abc', 'abc']);
    expect(valuesOf(new OutcomeFrame().read(frame))).toEqual(expected(outcome));
  });

  it('of another schema is refused', () => {
    const frame = codecs.outcome.encode(fc.sample(arbitrary.outcome, 1)[0]!);
    frame.writeUInt32BE(codecs.event.schemaId, 1);
    expect(() => new OutcomeFrame().read(frame)).toThrow('schema id 9 where 2 was expected');
    expect(() => new OutcomeFrame().read(frame.subarray(0, frameBytes - 1))).toThrow('not in the Confluent wire');
  });
});
