import { expect, test } from 'vitest';
import { abbreviated } from './abbreviations.js';

test.each([
  ['Sacramento Street', 'Sacramento St'],
  ['Pennsylvania Avenue Northwest', 'Pennsylvania Ave NW'],
  ['West Street', 'West St'],
  ['Avenue Road', 'Avenue Rd'],
  ['Boulevard Saint-Michel', 'Bd St-Michel'],
  ['Rue du Faubourg Saint-Denis', 'Rue du Fg St-Denis'],
  ['Avenue de la Grande Armée', 'Av. de la Grande Armée'],
  ['Ponte Santa Trinita', 'P.te S. Trinita'],
  ['Via San Gallo', 'Via S. Gallo'],
  ['Calle San Andrés', 'C. S. Andrés'],
  ['Rua São Bento', 'R. S. Bento'],
  ['Plac Świętego Krzyża', 'pl. św. Krzyża'],
  ['Äulestrasse', 'Äulestr.'],
  ['Fürst-Franz-Josef-Strasse', 'Fürst-Franz-Josef-Str.'],
  ['Alexanderplatz', 'Alexanderpl.'],
  ['Невский проспект', 'Невский просп.'],
  ['улица Рубинштейна', 'ул. Рубинштейна'],
])('%s is abbreviated as %s', (name, short) => {
  expect(abbreviated(name)).toBe(short);
});

test.each([
  // Their kind is the name, or no rule knows it.
  ...['Broadway', 'The Avenue', 'Street', 'Strand', 'Via', 'Borgo', 'Rue Bleue', '', ' '],
  // Words of another language.
  ...['San Francisco Bay', 'Saint Mary', 'North Point', '東大路通', 'toString constructor'],
])('%j stays as it is', (name) => {
  expect(abbreviated(name)).toBeNull();
});
