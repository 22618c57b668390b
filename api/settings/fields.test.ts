import { describe, expect, test } from 'vitest';
import type { RawFields } from '../../http/fields/reader.js';
import { defaultSettings } from '../../schemas/json/project.js';
import { changeSettings, settingsFields } from './fields.js';

const current = { ...defaultSettings, stopDetection: true, defaultDwellThreshold: 5, minimumConfidence: 2 };

function merged(fields: RawFields) {
  const outcome = changeSettings(current, fields);
  if (!outcome.ok) throw outcome.error;
  return outcome.value;
}

test('what is left out stays', () => {
  expect(merged({})).toEqual(current);
  expect(merged({ bufferExits: true })).toEqual({ ...current, bufferExits: true });
});

test('null and empty text put a setting back to its default', () => {
  expect(merged({ stopDetection: null, defaultDwellThreshold: '' })).toEqual({
    ...current,
    stopDetection: false,
    defaultDwellThreshold: null,
  });
});

test('beacon identifiers in normal form, each once', () => {
  const uuid = 'a7f2b4c0-1111-2222-3333-444455556666';
  const uid = 'abcdef0123456789abcd';
  expect(merged({ beaconUuids: [uuid.toUpperCase(), uuid.replaceAll('-', '')] }).beaconUuids).toEqual([uuid]);
  expect(merged({ beaconUuids: `${uuid}` }).beaconUuids).toEqual([uuid]);
  expect(merged({ beaconUids: JSON.stringify([uid]) }).beaconUids).toEqual([uid]);
  expect(merged({ beaconUids: [] }).beaconUids).toEqual([]);
});

describe('what is refused', () => {
  test.each([
    [{ stopdetection: true }, 'stopdetection: is not a known field; did you mean stopDetection?'],
    [{ toString: true }, `toString: is not a known field; known are ${Object.keys(settingsFields).join(', ')}`],
    [{ stopDetection: 'maybe' }, 'stopDetection: must be true or false'],
    [{ defaultDwellThreshold: -1 }, 'defaultDwellThreshold: must be a number from 0 to 525600 minutes'],
    [{ minimumConfidence: 4 }, 'minimumConfidence: must be a whole number from 1 to 3'],
    [{ minimumConfidence: 1.5 }, 'minimumConfidence: must be a whole number from 1 to 3'],
    [{ beaconUuids: 'abc' }, 'beaconUuids: must be at most 100 UUIDs of 32 hex digits'],
    [{ beaconUids: [1] }, 'beaconUids: must be at most 100 UIDs of 20 hex digits'],
    [{ beaconUids: '[' }, 'beaconUids: must be valid JSON: column 2: expected a value, not the end'],
  ] as [RawFields, string][])('%j', (fields, message) => {
    const outcome = changeSettings(current, fields);
    expect(outcome.ok ? undefined : outcome.error.message).toBe(message);
  });
});
