import { expect, it } from 'vitest';
import { isTimeless, readFixClock } from './timeless.js';

const old = { deviceType: 'Android', sdkVersion: '3.18.2' };

it.each([
  [{ locationMs: 0 }, true],
  [{ locationMs: '0' }, true],
  [{ locationMs: 1 }, false],
  [{ locationMs: 'soon' }, false],
  [{ locationMs: null }, false],
  [{}, false],
  [{ ...old, replayed: true }, true],
  [{ ...old, sdkVersion: '3.9.15-beta.1', replayed: 'true' }, true],
  [{ ...old, source: 'MOCK_LOCATION' }, true],
  [{ ...old, source: 'GEOFENCE_EXIT', replayed: false }, false],
  [{ ...old, locationMs: 5, replayed: true }, false],
  [{ ...old, sdkVersion: '3.19.0', replayed: true }, false],
  [{ ...old, sdkVersion: '3.20.1', replayed: true }, false],
  [{ deviceType: 'Android', replayed: true }, false],
  [{ ...old, deviceType: 'iOS', replayed: true }, false],
])('%j has no time: %s', (fields, expected) => {
  expect(isTimeless(fields)).toBe(expected);
});

it.each([
  [0, null],
  ['0', null],
  [undefined, null],
  [null, null],
  ['soon', null],
  [90_000, 90_000],
  ['1764111600000', 1_764_111_600_000],
])('the clock of a fix is read: %s', (locationMs, expected) => {
  expect(readFixClock({ locationMs })).toBe(expected);
});
