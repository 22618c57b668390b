import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prepareDataFolder } from './data-folder.js';

const umask = process.umask();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fenceline-data-folder-'));
});
afterEach(() => {
  process.umask(umask);
  rmSync(folder, { recursive: true });
});

const prepare = (): void => prepareDataFolder(folder, { info: () => {}, warn: () => {} });
const modeOf = (name: string): number => statSync(join(folder, name)).mode & 0o777;

/** Creates a folder with a file, which everybody may read. */
function open(name: string): void {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, 'data.mdb'), 'x');
  for (const path of [join(name, 'data.mdb'), name, '']) chmodSync(join(folder, path), 0o755);
}

describe('only the owner can read a data folder', () => {
  it('and what is in it, after a start in one that was open to others', () => {
    open('log');
    open('copies');
    prepare();
    expect(['', 'log', 'log/data.mdb', 'copies', 'copies/data.mdb'].map(modeOf)).toEqual(Array(5).fill(0o700));
  });

  it('but the targets of links keep their permissions', () => {
    open('log');
    const elsewhere = mkdtempSync(join(tmpdir(), 'fenceline-data-folder-'));
    chmodSync(elsewhere, 0o755);
    symlinkSync(elsewhere, join(folder, 'roads'));
    prepare();
    expect(modeOf('roads')).toBe(0o755);
    rmSync(elsewhere, { recursive: true });
  });
});

// A start with `--data /` took the permissions of everybody else from all files of the system.
describe('a folder of others is refused and stays as it is', () => {
  it.each(['holidays', 'log'])('with a folder %s that is not of Fenceline', (name) => {
    open(name);
    rmSync(join(folder, name, 'data.mdb'));
    expect(prepare).toThrow(`can't be used: it contains ${name}, and nothing of Fenceline; name an empty folder`);
    expect(['', name].map(modeOf)).toEqual([0o755, 0o755]);
    expect(readdirSync(folder)).toEqual([name]);
  });

  it.each(['lost+found', 'basemap', 'roads', '.DS_Store'])('but one with nothing but %s is taken', (name) => {
    open(name);
    prepare();
    expect(['', name].map(modeOf)).toEqual([0o700, 0o700]);
  });
});

// The first start of a cluster node without its services ended after a minute, and all later ones were refused.
it.each(['in-use.socket', 'lock-0a1b2c', 'encryption-key.unfinished', 'encryption-key.sha256'])(
  'a folder in which a first start left %s is taken',
  (name) => {
    writeFileSync(join(folder, name), '');
    prepare();
    expect(modeOf('')).toBe(0o700);
  },
);
