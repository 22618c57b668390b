import { expect, test } from 'vitest';
import { expandedSize } from './expanded-size.js';

const get = ['get', 'x'];

test.each([
  ['no value', undefined, 0],
  ['text', 'a', 0],
  ['an operator', get, 1],
  ['operators in each other', ['+', get, ['*', get, 2]], 4],
  ['a literal of any size', ['literal', [get, get, get]], 1],
  [
    'stops of a function',
    {
      stops: [
        [1, get],
        [2, 3],
      ],
    },
    4,
  ],
  ['a variable that is not used', ['let', 'a', get, 1], 2],
  ['a variable that is used twice', ['let', 'a', get, ['+', ['var', 'a'], ['var', 'a']]], 1 + 1 + 1 + 2 * 2],
  ['a variable outside of its scope', ['+', ['let', 'a', get, 1], ['var', 'a']], 1 + 2 + 1],
  ['variables of one scope, which do not see each other', ['let', 'a', get, 'b', ['var', 'a'], ['var', 'b']], 5],
  [
    'an inner variable of the same name',
    ['let', 'a', ['+', get, get], ['let', 'a', get, ['var', 'a']]],
    1 + 3 + 1 + 1 + 2,
  ],
  [
    'positions to compare with',
    [
      'within',
      {
        type: 'MultiPoint',
        coordinates: [
          [1, 2],
          [3, 4],
        ],
      },
    ],
    1 + 10 * 3,
  ],
  ['what is not valid', ['let', 'a'], 1],
])('%s', (_name, value, size) => {
  expect(expandedSize(value)).toBe(size);
});

test('a value that occurs at several places counts at each', () => {
  let value: unknown = get;
  for (let i = 0; i < 80; i++) value = ['+', value, value];
  expect(expandedSize(value)).toBe(2 ** 81 - 1);
});
