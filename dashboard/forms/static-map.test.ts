import fc from 'fast-check';
import { expect, it } from 'vitest';
import { firstDraft, newMarkers, newPath, parametersOf, queryText } from './static-map.js';

it('makes a query that reads as its parameters, whatever they contain', () => {
  const pair = fc.tuple(fc.constantFrom('markers', 'path', 'style'), fc.string({ unit: 'grapheme', minLength: 1 }));
  fc.assert(
    fc.property(fc.array(pair), (pairs) => {
      expect([...new URLSearchParams(queryText(pairs))]).toEqual(pairs);
    }),
  );
});

it('leaves out what is the default, and what the chosen view does not use', () => {
  const draft = { ...firstDraft(), scale: '1', markers: [{ ...newMarkers(' 1,2 \n\n3,4'), color: '#ff0000' }] };
  expect(queryText(parametersOf(draft))).toBe('width=600&height=400&markers=color:0xff0000|1,2|3,4');
  const path = { ...newPath('1,2\n3,4'), width: '5' };
  expect(queryText(parametersOf({ ...draft, markers: [], paths: [path], view: 'center' }))).toBe(
    'width=600&height=400&center=43.7731,11.2558&zoom=6&path=width:5|1,2|3,4',
  );
});
