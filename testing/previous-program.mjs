// Builds an earlier version of this repository, and prints the path of its program:
//
//   node testing/previous-program.mjs v1.0.0
//
// Without a ref it builds the newest release, or the previous commit if there is no release yet. The cache folder of
// the tests keeps each build, by commit. Builds with the same packages as this checkout link to them.
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const git = (...words) => execFileSync('git', words, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 30 }).trim();

/** Returns the newest tag of a release, or undefined. */
export function newestRelease() {
  try {
    return git('describe', '--tags', '--abbrev=0', '--match', 'v*');
  } catch {
    return undefined;
  }
}

/** Builds a ref, unless it is built already. Returns the path of its compiled command line. */
export function buildPrevious(ref) {
  const commit = git('rev-parse', '--verify', `${ref}^{commit}`);
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'fenceline-previous');
  const folder = join(cache, commit);
  const program = join(folder, 'dist/cli/main.js');
  if (existsSync(program)) {
    preparePackages(folder);
    return program;
  }
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 30 });
    execFileSync('tar', ['-x', '-C', unfinished], { input: archive });
    preparePackages(unfinished);
    // Versions that do not know the option build everything.
    const stdio = ['ignore', 'ignore', 'inherit'];
    execFileSync(process.execPath, ['build.mjs', '--server'], { cwd: unfinished, stdio });
    renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return program;
}

/**
 * Uses the packages of a checkout, by default this one, if its lock file is the same, and has npm install others.
 * Replaces an older link: the checkout that it names may be gone, or may have other packages by now.
 */
export function preparePackages(folder, checkout = root) {
  const packages = join(folder, 'node_modules');
  if (lstatSync(packages, { throwIfNoEntry: false })?.isDirectory()) return;
  const lockOf = (path) => readFileSync(join(path, 'package-lock.json'), 'utf8');
  if (lockOf(folder) === lockOf(checkout)) {
    const link = `${packages}.${process.pid}`;
    symlinkSync(join(checkout, 'node_modules'), link);
    // At once, because another process may run the build.
    renameSync(link, packages);
    return;
  }
  rmSync(packages, { force: true });
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}

if (process.argv[1] === import.meta.filename) {
  console.log(buildPrevious(process.argv[2] ?? newestRelease() ?? 'HEAD^'));
}
