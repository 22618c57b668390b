// Builds an earlier version of this repository, and prints the path of its program:
//
//   node testing/previous-program.mjs v1.0.0
//
// Without a ref it builds the newest release, or the previous commit if there is no release yet. The cache folder of
// the tests keeps each build, by commit.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
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
  if (existsSync(program)) return program;
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 30 });
    execFileSync('tar', ['-x', '-C', unfinished], { input: archive });
    installPackages(unfinished);
    // Versions that do not know the option build everything.
    const stdio = ['ignore', 'ignore', 'inherit'];
    execFileSync(process.execPath, ['build.mjs', '--server'], { cwd: unfinished, stdio });
    renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return program;
}

/** Uses the packages of this checkout if the lock file is the same. */
function installPackages(folder) {
  const lockOf = (path) => readFileSync(join(path, 'package-lock.json'), 'utf8');
  if (lockOf(folder) === lockOf(root)) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}

if (process.argv[1] === import.meta.filename) {
  console.log(buildPrevious(process.argv[2] ?? newestRelease() ?? 'HEAD^'));
}
