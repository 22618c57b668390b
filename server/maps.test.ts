import { expect, test } from 'vitest';
import type { FoundSource } from '../renderer/map.js';
import { unreadableArchive } from './map-data.js';
import { loggedTo } from './maps.js';

const found: FoundSource = {
  kind: 'vector',
  schema: 'openmaptiles',
  minZoom: 0,
  maxZoom: 14,
  bounds: null,
  layers: ['transportation'],
  attribution: '© Somebody',
};

function logged(source: FoundSource): string[] {
  const lines: string[] = [];
  const write =
    (level: string) =>
    (...parts: unknown[]) =>
      void lines.push(`${level}: ${parts.at(-1)}`);
  loggedTo({ error: write('error'), info: write('info'), warn: write('warn') }).onArchive(source);
  return lines;
}

test('the log warns of an archive that the built-in styles do not know, and of one without attribution', () => {
  expect(logged(found)).toEqual(['info: maps: the archive is open']);
  expect(logged({ ...found, schema: null })).toEqual([expect.stringMatching(/^warn: .* know no schema/)]);
  expect(logged({ ...found, attribution: '' })).toEqual([
    'info: maps: the archive is open',
    expect.stringMatching(/^warn: .* set maps\.archiveAttribution$/),
  ]);
});

test('the log had the key of a tile server that could not be read', () => {
  expect(unreadableArchive('https://tiles.example.com/streets.json?key=secret', 'no answer')).toBe(
    "https://tiles.example.com/streets.json?… can't be read: no answer: maps fail",
  );
});
