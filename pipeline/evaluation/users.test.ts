/** Compares profiles with a merge of parsed objects. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LocationDetails } from '../../schemas/records.js';
import { exampleDetails } from '../../schemas/testing/examples.js';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { profileAfter } from './users.js';

const fields = [
  'installId',
  'description',
  'metadata',
  'deviceType',
  'deviceMake',
  'deviceModel',
  'deviceOS',
  'sdkVersion',
  'locationAuthorization',
  'locationAccuracyAuthorization',
] as const satisfies (keyof LocationDetails)[];

function mergedPlainly(profile: string | null, details: LocationDetails): string | null {
  const known = JSON.parse(profile ?? '{}');
  const merged: Record<string, unknown> = {};
  for (const name of fields) {
    const value = details[name];
    if (value !== null) merged[name] = name === 'metadata' ? JSON.parse(value) : value;
    else if (name in known) merged[name] = known[name];
  }
  return Object.keys(merged).length === 0 ? null : JSON.stringify(merged);
}

const text = fc.constantFrom(
  null,
  null,
  'a',
  'b',
  '',
  '"',
  '\\',
  'é\n',
  '},"deviceType":"a"',
  'a","description":"b',
  'a"}',
);
/** Also as no serializer writes it: with spaces, escapes and repeated members. */
const metadata = fc.constantFrom(
  ...[null, '{}', '{"plan":"gold"}', '{ "plan": "gold" }', '{"plan":"gol\\u0064"}', '{"2":1,"1":2}', '{"1":2,"2":1}'],
  ...['{"plan":1,"plan":"gold"}', '{"n":1e0}', '{"n":1}', '{"__proto__":1}', '1', '12', '"a"'],
);
const details = fc
  .record({ ...Object.fromEntries(fields.map((name) => [name, text])), metadata })
  .map((reported) => exampleDetails(reported as Partial<LocationDetails>));

test('fields that a device reports later take their place, so that its repetitions are found without parsing', () => {
  const phone = { installId: '1', deviceType: 'iOS' };
  const signedIn = exampleDetails({ ...phone, metadata: '{"plan":"gold"}' });
  expect(profileAfter(profileAfter(null, exampleDetails(phone)), signedIn)).toBe(profileAfter(null, signedIn));
});

test('the profile is the merge of all reported fields, also of a device that repeats itself', () => {
  const reports = fc.array(fc.tuple(details, fc.integer({ min: 1, max: 3 })), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(reports, (given) => {
      let profile: string | null = null;
      let expected: string | null = null;
      for (const [one, times] of given) {
        for (let time = 0; time < times; time++) {
          profile = profileAfter(profile, one);
          expected = mergedPlainly(expected, one);
          expect(profile).toBe(expected);
        }
      }
    }),
    { numRuns: propertyRuns(500) },
  );
});
