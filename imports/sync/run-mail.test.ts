/**
 * A project named "Shops", a line break and "Result: ..." added a line of its own to the mail about a run, so members
 * could write what they liked in the name of the server. Names of files and their messages could do the same.
 */
import { expect, test } from 'vitest';
import { freshId } from '../../schemas/ids.js';
import type { SyncRecord, SyncRunRecord } from '../../schemas/json/sync.js';
import { runMail } from './run-mail.js';

const sync: SyncRecord = {
  _id: freshId(),
  project: freshId(),
  environment: 'live',
  createdAt: 0,
  updatedAt: 0,
  enabled: true,
  notificationEmail: 'ops@example.com',
  protocol: 's3',
  urls: [],
  region: null,
  bucket: null,
  keys: [],
  endpoint: null,
  sealedCredentials: null,
  requested: { reason: 'nightly', at: 0 },
  lastRun: null,
  seen: [],
};

/** @param between stands inside each text that somebody else chose. */
function mailWith(between: string) {
  const text = (name: string): string => `${name}${between}forged: line`;
  const file = { name: text('a.csv'), result: 'failed', message: text('line 2'), bytes: null } as const;
  const run: SyncRunRecord = {
    _id: freshId(),
    reason: 'nightly',
    attempt: 1,
    startedAt: 0,
    finishedAt: 0,
    result: 'failed',
    message: '1 of 1 files could not be imported.',
    mailProblem: null,
    files: [{ ...file, import: null, counts: null }],
  };
  return runMail(sync, run, text('Shops'), 'ops@example.com');
}

test.each(['\n', '\r\n', '\u2028', '\u0085', '\u0000', '\u202e'])(
  'a mail has the same lines with %j in names',
  (between) => {
    expect(mailWith(between)).toEqual(mailWith(' '));
    expect(
      mailWith(between)
        .text.split('\n')
        .some((line) => line.startsWith('forged')),
    ).toBe(false);
  },
);
