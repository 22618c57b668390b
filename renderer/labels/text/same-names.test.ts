import { expect, test } from 'vitest';
import { sameNameKey } from './same-names.js';

test.each([
  ['Gaulle-Étoile', 'Gaulle — Étoile'],
  ['Charles de Gaulle - Étoile', 'Charles de Gaulle-Etoile'],
  ['Piazzale Michelangelo', 'Piazzale Michelangiolo'],
])('%s and %s are one place', (a, b) => {
  expect(sameNameKey(a)).toBe(sameNameKey(b));
});

test.each([
  ['Via Roma', 'Via Rame'],
  ['218', '218;A'],
  ['Galleria Corsini', 'Galleria Corsi'],
  ['東京駅', '東京'],
  ['—', '–'],
])('%s and %s are two places', (a, b) => {
  expect(sameNameKey(a)).not.toBe(sameNameKey(b));
});
