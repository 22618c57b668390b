import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
// @ts-expect-error the program has no types
import { preparePackages } from './previous-program.mjs';

const root = mkdtempSync(join(tmpdir(), 'fenceline-previous-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const lockOf = (name: string): string =>
  JSON.stringify({ name, version: '1.0.0', lockfileVersion: 3, packages: { '': { name, version: '1.0.0' } } });

/** Makes a folder with a lock file, and with a package that says where it is. */
function newCheckout(name: string, lock: string, packages = true): string {
  const folder = join(root, name);
  mkdirSync(join(folder, packages ? 'node_modules/place' : ''), { recursive: true });
  writeFileSync(join(folder, 'package-lock.json'), lock);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: JSON.parse(lock).name, version: '1.0.0' }));
  if (packages) writeFileSync(join(folder, 'node_modules/place/name'), name);
  return folder;
}

const placeOf = (folder: string): string => readFileSync(join(folder, 'node_modules/place/name'), 'utf8');

describe('a build of an earlier version that is used again', () => {
  it('links to the packages of this checkout when that of its link is gone', () => {
    const build = newCheckout('build', lockOf('same'), false);
    symlinkSync(join(root, 'gone/node_modules'), join(build, 'node_modules'));
    preparePackages(build, newCheckout('here', lockOf('same')));
    expect(placeOf(build)).toBe('here');
  });

  it('links to the packages of this checkout when those of its link may be others', () => {
    const build = newCheckout('build-2', lockOf('same'), false);
    symlinkSync(join(newCheckout('elsewhere', lockOf('same')), 'node_modules'), join(build, 'node_modules'));
    preparePackages(build, newCheckout('here-2', lockOf('same')));
    expect(placeOf(build)).toBe('here-2');
    expect(placeOf(join(root, 'elsewhere'))).toBe('elsewhere');
  });

  it('gets packages of its own when this checkout has others, and leaves those of its link alone', () => {
    const build = newCheckout('build-3', lockOf('earlier'), false);
    const linked = newCheckout('linked', lockOf('earlier'));
    symlinkSync(join(linked, 'node_modules'), join(build, 'node_modules'));
    preparePackages(build, newCheckout('here-3', lockOf('now')));
    expect(existsSync(join(build, 'node_modules/place'))).toBe(false);
    expect(placeOf(linked)).toBe('linked');
  });

  it('keeps packages that were installed for it', () => {
    const build = newCheckout('build-4', lockOf('same'));
    preparePackages(build, newCheckout('here-4', lockOf('same')));
    expect(placeOf(build)).toBe('build-4');
  });
});
