import { expect, it } from 'vitest';
import { withRestoredText } from './unescaped-text.js';

it.each([
  ['query=5th%20Ave%20&%20Main%20St&limit=10', 'query=5th%20Ave%20%26%20Main%20St&limit=10'],
  ['limit=10&query=A&B&C', 'limit=10&query=A%26B%26C'],
  ['query=A&&B', 'query=A%26B'],
  // What is typed so far ends with &.
  ['query=5th%20&&limit=10', 'query=5th%20&limit=10'],
  ['query=A%26B&limit=10', 'query=A%26B&limit=10'],
  ['flag&query=A', 'flag&query=A'],
  ['query=A&limit=10&flag', 'query=A&limit=10&flag'],
  ['queryOf=A&B', 'queryOf=A&B'],
  ['', ''],
])('%s means %s', (queryString, restored) => {
  expect(withRestoredText(queryString, 'query')).toBe(restored);
});
