import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Event } from '../../client/types';
import { formulaPattern } from '../../http/fields/formulas';
import { byTime, changesOf, countOf, csvOf, type Found, type FoundIn, formula } from './compare';

const kinds = ['entered', 'left', 'dwelled'] as const;
const places = ['duomo', 'station', 'market'] as const;
type Made = readonly [id: number, place: (typeof places)[number], kind: (typeof kinds)[number]];
const made: fc.Arbitrary<Made> = fc.tuple(fc.nat(40), fc.constantFrom(...places), fc.constantFrom(...kinds));
const events = fc.uniqueArray(made, { selector: ([id]) => id, maxLength: 25 });

/** Counts as the API does, from where each event is. */
function summaryOf(of: readonly (readonly [FoundIn, Made])[]) {
  const counts = () => ({ both: 0, replay: 0, record: 0 });
  const transitions = () => ({ entered: counts(), left: counts(), dwelled: counts() });
  const total = transitions();
  const byPlace = new Map(places.map((name) => [name, transitions()]));
  for (const [foundIn, [, place, kind]] of of) {
    total[kind][foundIn] += 1;
    byPlace.get(place)![kind][foundIn] += 1;
  }
  return {
    total,
    locations: { applied: 0, repeat: 0, stale: 0 },
    firstLocationEvents: 0,
    places: [...byPlace].map(([name, each]) => ({ kind: 'geofence' as const, name, transitions: each })),
  };
}

test('the comparison is what two lists of events say', () => {
  fc.assert(
    fc.property(events, events, (today, all) => {
      // An event of both lists has one id, and so the same place and kind.
      const known = new Map(today.map((each) => [each[0], each]));
      const proposed = all.map((each) => known.get(each[0]) ?? each);
      const has = (list: readonly Made[], id: number) => list.some(([other]) => other === id);
      const found = [
        ...today.map((each) => [has(proposed, each[0]) ? 'both' : 'record', each] as const),
        ...proposed.filter(([id]) => !has(today, id)).map((each) => ['replay', each] as const),
      ];
      const summary = summaryOf(found);
      const changes = changesOf(summary);
      for (const name of places) {
        const at = (list: readonly Made[]) => list.filter(([, place]) => place === name);
        const expected = {
          before: at(today).length,
          after: at(proposed).length,
          added: at(proposed).filter(([id]) => !has(today, id)).length,
          removed: at(today).filter(([id]) => !has(proposed, id)).length,
        };
        expect(changes.find((each) => each.name === name)).toMatchObject(expected);
      }
      const changed = changes.map(({ added, removed }) => added + removed);
      expect(changed).toEqual([...changed].sort((one, other) => other - one));
      expect(countOf(summary.total, 'both') + countOf(summary.total, 'record')).toBe(today.length);
      expect(countOf(summary.total, 'both') + countOf(summary.total, 'replay')).toBe(proposed.length);
    }),
  );
});

const found = (id: string, createdAt: string, more: object = {}): Found => ({
  foundIn: 'replay',
  firstLocation: false,
  event: { _id: id, type: 'user.entered_geofence', createdAt, confidence: 3, ...more } as Event,
});

test('events are ordered by time, newest first', () => {
  const [one, two, three] = [found('1', '2026-01-01'), found('2', '2026-01-02'), found('3', '2026-01-02')];
  expect([one, two, three].sort(byTime)).toEqual([three, two, one]);
});

// The page had a rule of its own, without line feeds, full-width forms and apostrophes that were there before.
test('a file takes the same texts for formulas as the files of the server', () => {
  expect(formula.source).toBe(new RegExp(formulaPattern).source);
  const rowOf = (externalId: string) => csvOf([found('1', '', { geofence: { externalId } })]).split('\r\n')[1];
  expect(['＝1', "'=1", '\n=1', "'1", '1'].map(rowOf).map((row) => row?.split(',')[8])).toEqual([
    ...["'＝1", "''=1", `"'\n=1"`, "'1", '1'],
  ]);
});

test('a file quotes what must be quoted, and has no formulas', () => {
  const geofence = { description: 'The "old", hall', externalId: '=1+1' };
  const [header, row, end] = csvOf([found('1', '2026-01-01', { geofence, duration: -5 })]).split('\r\n');
  expect(header?.split(',').length).toBe(14);
  expect(row).toBe(`added,false,1,user.entered_geofence,2026-01-01,,,,'=1+1,"The ""old"", hall",,,3,-5`);
  expect(end).toBe('');
});
