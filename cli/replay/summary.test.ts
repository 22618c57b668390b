import { describe, expect, test } from 'vitest';
import type { ComparedEvent } from '../../replay/replay.js';
import { Tally } from '../../replay/tally.js';
import { noTotals, type Totals } from '../../replay/totals.js';
import type { Event } from '../../schemas/records.js';
import { summaryLines, totalLine } from './summary.js';

const totals: Totals = {
  records: 2_000,
  warmUpLocations: 500,
  results: { applied: 1_200, repeat: 30, stale: 4 },
  deadLetters: 2,
  firstReceivedAt: Date.UTC(2026, 5, 1),
  lastReceivedAt: Date.UTC(2026, 5, 2),
};

const place = (name: string) => ({
  id: name,
  tag: 'store',
  externalId: name,
  description: name,
  type: 'circle',
  metadata: null,
});
const geofence = (name: string) => ({
  geofence: { ...place(name), centerLongitude: 0, centerLatitude: 0, radius: 100 },
  beacon: null,
});
const beacon = (name: string) => ({
  geofence: null,
  beacon: { ...place(name), tag: null, externalId: null, type: 'ibeacon' as const, group: '', major: '', minor: '' },
});

function tallyOf(
  ...events: [type: string, where: object, foundIn: ComparedEvent['foundIn'], isFirst?: boolean][]
): Tally {
  const tally = new Tally();
  for (const [type, where, foundIn, isFirst = false] of events) {
    tally.add({ event: { type: `user.${type}`, ...where } as Event, foundIn, isFirst });
  }
  return tally;
}

const asked = { environment: 'live', range: { fromMs: Date.UTC(2026, 5, 1), toMs: Date.UTC(2026, 5, 2) } };

describe('the summary', () => {
  test('has no characters that a terminal obeys', () => {
    const tally = tallyOf(['entered_geofence', geofence('\u001b[2J\u202eevil'), 'both']);
    const lines = summaryLines({ totals, tally, elapsedMs: 500, asked });
    expect(lines.join('\n')).not.toContain('\u001b');
    expect(lines.join('\n')).toContain('geofence store/\uFFFD[2J\uFFFDevil');
  });

  test('counts the replay beside the record, by place', () => {
    const tally = tallyOf(
      ['entered_geofence', geofence('wide'), 'both'],
      ['entered_geofence', geofence('wide'), 'replay', true],
      ['exited_geofence', geofence('wide'), 'replay'],
      ['entered_geofence', geofence('gone'), 'record'],
      ['dwelled_in_geofence', geofence('gone'), 'record'],
      ['entered_beacon', beacon('door'), 'both'],
      ['exited_beacon', beacon('door'), 'both'],
    );
    expect(summaryLines({ totals, tally, elapsedMs: 500, asked })).toEqual([
      '1,234 locations: 1,200 applied, 30 repeats, 4 stale',
      '  received 2026-06-01T00:00:00.000Z to 2026-06-02T00:00:00.000Z',
      '  after 500 earlier ones, which showed who was inside what',
      '  2 more could not be evaluated',
      '  in 0.5 s, 3,468 a second',
      '  events at the first location held of their device: 1; it may have been inside before',
      '',
      '                                entered                left             dwelled             only in',
      '                       replay    record    replay    record    replay    record    replay    record',
      'geofence store/gone         0         1         0         0         0         1         0         2',
      'geofence store/wide         2         1         1         0         0         0         2         0',
      'beacon door                 1         1         1         1         0         0         0         0',
      'all                         3         3         2         1         0         1         2         2',
    ]);
    expect(totalLine({ totals, tally, elapsedMs: 500, asked })).toBe(
      '1,234 locations; 5 events in the replay, 5 on record: 2 only in the replay, 2 only on record',
    );
  });

  test('says when there was nothing', () => {
    expect(summaryLines({ totals: noTotals, tally: tallyOf(), elapsedMs: 0, asked })).toEqual([
      'No locations of environment live are held from 2026-06-01T00:00:00.000Z to 2026-06-02T00:00:00.000Z; ' +
        '--environment, --from and --to choose others.',
      '',
      'No events, neither in the replay nor on record.',
    ]);
  });
});
