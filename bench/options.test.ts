import { expect, test } from 'vitest';
import { readCommand } from './options.js';

const known = { cases: ['cities', 'maps'], smoke: ['cities'], published: ['cities'], peers: ['tile38', 'postgis'] };
const read = (line: string) => readCommand(line.split(' ').filter(Boolean), known);

test('without options all cases run at full size, without peers', () => {
  expect(read('')).toMatchObject({
    kind: 'run',
    names: ['cities', 'maps'],
    options: { smoke: false, peers: [], seed: 1 },
    publish: false,
  });
});

test('cases and peers may be repeated, and all peers have one name', () => {
  expect(read('--case maps --peer tile38 --peer tile38 --seed 7 --size smoke')).toMatchObject({
    names: ['maps'],
    options: { smoke: true, peers: ['tile38'], seed: 7 },
  });
  expect(read('--peer all')).toMatchObject({ options: { peers: ['tile38', 'postgis'] } });
});

test('a smoke run leaves out long cases, unless they are named', () => {
  expect(read('--smoke')).toMatchObject({ names: ['cities'] });
  expect(read('--smoke --case maps')).toMatchObject({ names: ['maps'] });
});

test('a run that is published has the published cases', () => {
  expect(read('--publish')).toMatchObject({ names: ['cities'], publish: true });
});

test.each([
  ['maps', 'a case is named with an option: --case maps'],
  ['--case none', 'unknown case none; the cases are cities, maps'],
  ['--peer none', 'unknown peer none; the peers are tile38, postgis, all'],
  ['--size huge', '--size is smoke, medium, full, not huge'],
  ['--seed 0', '--seed requires a whole number from 1'],
  ['--minutes x', '--minutes requires a number above 0'],
  ['--smoke --publish', 'the figures of a smoke run are not published'],
])('refuses %s', (line, problem) => {
  expect(read(line)).toEqual({ kind: 'problem', problem });
});

test('an unknown option is refused by its name', () => {
  expect(read('--nothing')).toMatchObject({ kind: 'problem', problem: expect.stringContaining("'--nothing'") });
});
