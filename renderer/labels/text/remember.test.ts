import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rememberByText } from './remember.js';

test('results are those of the function, and most texts are computed once', () => {
  let computed = 0;
  const lengthOf = rememberByText((text) => {
    computed++;
    return text.length === 0 ? null : text.length;
  });
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 2 })), (texts) => {
      for (const text of texts) expect(lengthOf(text)).toBe(text.length === 0 ? null : text.length);
    }),
  );
  const before = computed;
  for (let i = 0; i < 3; i++) lengthOf('Via Roma');
  expect(computed).toBe(before + 1);
});
