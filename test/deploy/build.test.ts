/**
 * A build that failed or was killed left a part of the program in dist/, which ended with a stack when it was started.
 * The build script runs here in a small repository of its own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { until } from '../../testing/until.js';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const copied = ['build.mjs', 'bundle-packages.mjs', 'tsconfig.json', 'package.json', 'package-lock.json'];

let root: string;
const main = () => join(root, 'dist/cli/main.js');
const leftovers = (): string[] => readdirSync(root).filter((name) => name.startsWith('dist-'));

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'fenceline-build-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const name of copied) cpSync(join(repository, name), join(root, name));
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
  for (const folder of ['cli', 'dashboard', 'dist/cli']) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'dashboard/vite.config.mjs'), '');
  writeFileSync(main(), 'built before');
});

function build(...options: string[]): ChildProcess {
  return spawn(process.execPath, ['build.mjs', ...options], { cwd: root, stdio: 'ignore', detached: true });
}

it('leaves dist as it was when the sources do not compile', async () => {
  writeFileSync(join(root, 'cli/main.ts'), "export const port: number = 'many';\n");
  const [status] = await once(build(), 'exit');
  expect(status).not.toBe(0);
  expect(readFileSync(main(), 'utf8')).toBe('built before');
  expect(leftovers()).toEqual([]);
});

it('leaves dist as it was when it is killed, and the next build removes what it left', async () => {
  writeFileSync(join(root, 'cli/main.ts'), 'export const port = 1;\n');
  const killed = build();
  await until(() => leftovers().some((name) => readdirSync(join(root, name)).length > 0));
  process.kill(-killed.pid!, 'SIGKILL');
  await once(killed, 'exit');
  expect(readFileSync(main(), 'utf8')).toBe('built before');
  expect(leftovers()).toHaveLength(1);

  // It fails as well: this repository has no folders of data.
  await once(build('--server'), 'exit');
  expect(leftovers()).toEqual([]);
});

it('replaces dist by a whole build', async () => {
  writeFileSync(join(root, 'cli/main.ts'), 'export const port = 1;\n');
  const script = readFileSync(join(root, 'build.mjs'), 'utf8');
  for (const [, folder] of script.matchAll(/^ {2}'([a-z-]+\/[a-z/-]+)',$/gm))
    mkdirSync(join(root, folder!), { recursive: true });
  writeFileSync(join(root, 'dist/removed.js'), '');
  const [status] = await once(build('--server'), 'exit');
  expect(status).toBe(0);
  expect(readFileSync(main(), 'utf8')).toContain('port = 1');
  expect(readdirSync(join(root, 'dist'))).not.toContain('removed.js');
  expect(leftovers()).toEqual([]);
});
