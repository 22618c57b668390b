import { expect, test } from 'vitest';
import { scopeIn, withoutScope, withScope } from './scope-address.js';

const live = { project: '6b0b', environment: 'live' } as const;

test('an address gets project and environment in place of others, and keeps the rest as it is written', () => {
  expect(withScope('/geofences', live)).toBe('/geofences?project=6b0b&environment=live');
  expect(withScope('/map?at=1.5,2,3', live)).toBe('/map?at=1.5,2,3&project=6b0b&environment=live');
  expect(withScope('/users?project=other&search=a%26b&environment=test#main', live)).toBe(
    '/users?search=a%26b&project=6b0b&environment=live#main',
  );
  expect(withScope('/users?search=x&project=other', { project: undefined, environment: undefined })).toBe(
    '/users?search=x',
  );
});

test('an address is read as it is written, and a cut one names nothing', () => {
  expect(scopeIn('?search=x&project=6b0b&environment=live')).toEqual(live);
  expect(scopeIn('?project=&environment=liv')).toEqual({ project: undefined, environment: undefined });
  expect(withoutScope('?search=a%26b&project=6b0b&environment=live')).toBe('search=a%26b');
});
