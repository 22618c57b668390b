import type { LayerSpecification } from '@maplibre/maplibre-gl-style-spec';
import { expect, test } from 'vitest';
import { compileStyle } from '../style/compile.js';
import { isDarkStyle } from './background.js';

function isDark(...paints: readonly object[]): boolean {
  const layers = paints.map((paint, i) => ({ id: `${i}`, type: 'background', paint }) as LayerSpecification);
  return isDarkStyle(compileStyle({ version: 8, sources: {}, layers }), 10);
}

test('the topmost background decides whether a map is dark', () => {
  expect(isDark()).toBe(false);
  expect(isDark({ 'background-color': '#eeeeee' })).toBe(false);
  expect(isDark({ 'background-color': '#eeeeee' }, { 'background-color': '#202020' })).toBe(true);
});

test('a transparent background does not make a map dark', () => {
  const light = { 'background-color': '#eeeeee' };
  expect(isDark(light, { 'background-opacity': 0 })).toBe(false);
  expect(isDark(light, { 'background-color': 'rgba(0, 0, 0, 0.1)' })).toBe(false);
});
