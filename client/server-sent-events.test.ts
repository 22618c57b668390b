import fc from 'fast-check';
import { expect, test } from 'vitest';
import { interpret } from '../api/stream/testing/standard-parser.js';
import { createBlockReader } from './server-sent-events.js';

const line = fc.oneof(
  fc.constantFrom(
    '',
    ':',
    ': comment',
    'data',
    'data:',
    'data: ',
    'data:  x',
    'id',
    'id: 7',
    'id:a\0b',
    'event: gap',
    'event',
    'retry: 5',
    'unknown: y',
  ),
  fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => `data: ${text.replace(/[\r\n]/g, '')}`),
);
const text = fc
  .tuple(
    fc.constantFrom('', '\uFEFF'),
    fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 20 }),
    line,
  )
  .map(([mark, lines, last]) => mark + lines.map(([content, end]) => content + end).join('') + last);

test('for any pieces, messages and position match the standard', () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(12), { maxLength: 10 }), (whole, sizes) => {
      const read = createBlockReader();
      const cuts = [
        0,
        ...sizes.map((_, index) => sizes.slice(0, index + 1).reduce((sum, size) => sum + size)),
        whole.length,
      ];
      const blocks = cuts.flatMap((cut, index) => (index === 0 ? [] : read(whole.slice(cuts[index - 1], cut))));
      const { messages, lastEventId } = interpret(whole);
      const shown = blocks.filter(({ data }) => data !== null);
      expect(shown.map(({ id, type, data }) => ({ type, data, lastEventId: id }))).toEqual(messages);
      expect(blocks.at(-1)?.id ?? '').toBe(lastEventId);
    }),
  );
});

test('a resumed connection keeps its id until the next one', () => {
  expect(createBlockReader('AQA')('data: x\n\nid: AQI\n\n')).toEqual([
    { id: 'AQA', type: 'message', data: 'x' },
    { id: 'AQI', type: 'message', data: null },
  ]);
});
