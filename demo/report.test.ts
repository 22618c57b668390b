import { describe, expect, it } from 'vitest';
import type { Event } from '../schemas/json/user.js';
import { painter } from '../server/terminal-text.js';
import { meanLagMs, parseMetrics } from './metrics.js';
import { closingAccount, eventLine, type ServerTotals } from './report.js';
import { createTally, percentile } from './tally.js';

const plain = painter(false);
const event: Event = {
  _id: 'a'.repeat(24),
  type: 'user.exited_geofence',
  createdAt: '2026-03-01T14:03:07.123Z',
  actualCreatedAt: '2026-03-01T14:03:07.140Z',
  live: false,
  user: { deviceId: 'van-017' },
  geofence: {
    _id: 'b'.repeat(24),
    tag: 'store',
    description: 'Karl’s Coffee, Castro Street',
    type: 'circle',
    geometryCenter: { type: 'Point', coordinates: [0, 0] },
    geometryRadius: 50,
  },
  confidence: 2,
  duration: 3.24,
};

describe('lines', () => {
  it('are aligned for names of any length', () => {
    const long: Event = {
      ...event,
      geofence: { ...event.geofence!, description: 'x'.repeat(100), tag: 'delivery-zone' },
    };
    const [one, other] = [eventLine(event, plain), eventLine(long, plain)];
    expect(one.indexOf('confidence')).toBe(other.indexOf('confidence'));
    expect(one).toMatch(/^14:03:07 van-017 +left +store +Karl’s Coffee, Castro Street +confidence 2, after 3.2 min$/);
  });

  it('are coloured only on request', () => {
    expect(eventLine(event, plain)).not.toContain('\u001b');
    expect(eventLine(event, painter(true))).toContain('\u001b[33m');
  });
});

describe('the closing account', () => {
  const tally = createTally();
  for (let sent = 0; sent < 3; sent += 1) {
    tally.sent();
    tally.accepted(sent);
  }
  tally.event('1', 'user.entered_geofence');
  tally.event('1', 'user.entered_geofence');
  const totals: ServerTotals = {
    applied: 1,
    repeat: 1,
    stale: 1,
    history: { count: 1, missing: 0, unexpected: 0 },
  };

  it('holds when both sides agree', () => {
    expect(closingAccount(tally.summary(), totals, plain).addsUp).toBe(true);
  });

  it.each([
    ['a location is lost', { applied: 0 }],
    ['a location counts twice', { applied: 2 }],
    ['an event is missing', { history: { count: 1, missing: 1, unexpected: 1 } }],
    ['there is one event more', { history: { count: 2, missing: 0, unexpected: 1 } }],
  ])('fails when %s', (_what, difference) => {
    expect(closingAccount(tally.summary(), { ...totals, ...difference }, plain).addsUp).toBe(false);
  });

  it('holds for a server without history, and says what was not compared', () => {
    const { lines, addsUp } = closingAccount(tally.summary(), { ...totals, history: { reason: 'no engine' } }, plain);
    expect(addsUp).toBe(true);
    expect(lines).toContain('--  events     1 in answers, not compared with stored ones: no engine');
  });
});

it('the closing account counts refused calls by their reason', () => {
  const tally = createTally();
  for (const reason of ['503 busy', 'no answer', '503 busy']) {
    tally.sent();
    tally.refused(reason);
  }
  const totals: ServerTotals = {
    applied: 3,
    repeat: 0,
    stale: 0,
    history: { count: 0, missing: 0, unexpected: 0 },
  };
  const { lines, addsUp } = closingAccount(tally.summary(), totals, plain);
  expect(addsUp).toBe(false);
  expect(lines.filter((line) => line.includes('refused'))).toEqual([
    expect.stringContaining('2: 503 busy'),
    expect.stringContaining('1: no answer'),
  ]);
});

describe('measures', () => {
  it('percentiles are values that occurred', () => {
    expect([
      percentile([], 0.5),
      percentile([7], 0.99),
      percentile([1, 2, 3, 4], 0.5),
      percentile([1, 2, 3, 4], 0.99),
    ]).toEqual([0, 7, 2, 4]);
  });

  it('reads lag as the mean between two readings', () => {
    const reading = (sum: number, count: number) =>
      parseMetrics(
        `# HELP x\nfenceline_location_lag_seconds_sum ${sum}\nfenceline_location_lag_seconds_count ${count}\n`,
      );
    expect(meanLagMs(reading(0.01, 2), reading(0.04, 4))).toBeCloseTo(15);
    expect(meanLagMs(reading(0.01, 2), reading(0.01, 2))).toBeUndefined();
  });
});
