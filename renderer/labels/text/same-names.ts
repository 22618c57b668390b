/** Tells names of one place that mappers write in several ways. Pure. */
import { rememberByText } from './remember.js';

/** A shorter name without its vowels may be that of another place. Characters. */
const leastConsonants = 8;

/**
 * Returns a key that is equal for names that differ in dashes and spaces, such as `Gaulle-Étoile` and `Gaulle —
 * Étoile`. Long names may also differ in their vowels, such as `Piazzale Michelangelo` and `Piazzale Michelangiolo`.
 */
export const sameNameKey = rememberByText((name): string => {
  const letters = name.replace(/[^\p{L}\p{M}\p{N}]+/gu, '') || name;
  const consonants = letters
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .replace(/[aeiou]+/gi, '');
  return consonants.length >= leastConsonants && consonants.length < letters.length ? consonants : letters;
});
