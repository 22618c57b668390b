import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../../testing/any-character.js';
import { encodeCommand } from './encoded-command.js';

const text = fc.oneof(fc.string({ maxLength: 120 }), fc.string({ unit: anyCharacter, maxLength: 40 }));
const bytes = fc.uint8Array({ maxLength: 120 }).map((array) => Buffer.from(array));

/** The encoding in the protocol's specification. */
function slowly(parts: readonly (string | Buffer)[]): Buffer {
  const encoded = parts.flatMap((part) => {
    const value = Buffer.from(part as string);
    return [Buffer.from(`$${value.length}\r\n`), value, Buffer.from('\r\n')];
  });
  return Buffer.concat([Buffer.from(`*${parts.length}\r\n`), ...encoded]);
}

test('any command is encoded as the protocol defines', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.oneof(text, bytes), { maxLength: 12 }), { maxLength: 4 }), (lists) => {
      expect(encodeCommand(lists)).toEqual(slowly(lists.flat()));
    }),
  );
});

test.each([9, 10, 99, 100, 4_999, 1_500_000])('lengths and counts around %i are encoded', (length) => {
  const lists = [Array.from({ length: Math.min(length, 5_000) }, () => ''), ['x'.repeat(length), 'é'.repeat(length)]];
  expect(encodeCommand(lists).equals(slowly(lists.flat()))).toBe(true);
});
