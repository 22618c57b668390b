import fc from 'fast-check';

/**
 * Generates any character of Unicode but halves of surrogate pairs, as the unit of `fc.string`.
 *
 * The unit `binary` of fast-check generates the same, but builds a table of all its million characters for each string,
 * which takes a quarter of a second.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat({ max: 0x10ffff - 0x800 })
  .map((number) => String.fromCodePoint(number < 0xd800 ? number : number + 0x800));
