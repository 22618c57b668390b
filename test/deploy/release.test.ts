/** Makes a release of a small package in a separate repository, with the script of our releases. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../deploy/release.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fenceline-release-'));
const text = (name: string): string => readFileSync(join(folder, name), 'utf8');
const write = (name: string, content: string): void => writeFileSync(join(folder, name), content);
const git = (...words: string[]): string =>
  execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...words], {
    cwd: folder,
    encoding: 'utf8',
  });

function commit(): void {
  git('add', '--all');
  git('commit', '--quiet', '--message', 'test');
}

function release(...words: string[]): { readonly status: number | null; readonly out: string; readonly error: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...words], { cwd: folder, encoding: 'utf8' });
  return { status, out: stdout, error: stderr };
}

beforeAll(() => {
  git('init', '--quiet');
  write('package.json', JSON.stringify({ name: 'small', version: '0.1.0', files: ['small.js'] }));
  write(
    'package-lock.json',
    JSON.stringify({
      name: 'small',
      version: '0.1.0',
      lockfileVersion: 3,
      packages: { '': { name: 'small', version: '0.1.0' } },
    }),
  );
  write('small.js', 'console.log("small");\n');
  write('docker-compose.yml', 'image: fenceline:0.1.0\n');
  mkdirSync(join(folder, 'deploy/helm'), { recursive: true });
  write('deploy/helm/Chart.yaml', 'version: 0.1.0\nappVersion: 0.1.0\n');
  write('.gitignore', 'release/\n');
  write('CHANGELOG.md', '# Changelog\n\n## [Unreleased]\n\n- New: all of it.\n');
  commit();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  [['1.0'], 'usage: npm run release -- VERSION'],
  [['0.0.9'], '0.0.9 is not newer than 0.1.0'],
  [['0.1.0-rc.1'], '0.1.0-rc.1 is not newer than 0.1.0'],
])('refuses %j', (words, reason) => {
  expect(release(...words)).toMatchObject({ status: 1, error: expect.stringContaining(reason) });
});

it('refuses uncommitted changes', () => {
  write('new.js', '');
  expect(release('0.2.0').error).toContain('commit or remove these first:\n?? new.js');
  rmSync(join(folder, 'new.js'));
});

it('says in a dry run what it would do, and changes nothing', () => {
  expect(release('0.2.0', '--dry-run')).toMatchObject({ status: 0, out: expect.stringContaining('- New: all of it.') });
  expect(git('status', '--porcelain')).toBe('');
  expect(existsSync(join(folder, 'release'))).toBe(false);
});

it('sets the version everywhere, and writes the package with its changes, parts and checksums', () => {
  expect(release('0.2.0')).toMatchObject({ status: 0 });
  for (const name of ['package.json', 'package-lock.json']) expect(JSON.parse(text(name)).version).toBe('0.2.0');
  expect(text('docker-compose.yml')).toBe('image: fenceline:0.2.0\n');
  expect(text('deploy/helm/Chart.yaml')).toBe('version: 0.2.0\nappVersion: 0.2.0\n');
  expect(text('CHANGELOG.md')).toMatch(
    /^# Changelog\n\n## \[Unreleased\]\n\n## \[0\.2\.0\] - \S+\n\n- New: all of it\.\n$/,
  );
  const names = ['changelog.md', 'sbom.cdx.json', 'small-0.2.0.tgz'];
  expect(readdirSync(join(folder, 'release')).toSorted()).toEqual(['SHA256SUMS', ...names]);
  expect(JSON.parse(text('release/sbom.cdx.json'))).toMatchObject({
    bomFormat: 'CycloneDX',
    metadata: { component: { name: 'small', purl: 'pkg:npm/small@0.2.0' } },
  });
  const sums = names.map((name) => {
    const sum = createHash('sha256')
      .update(readFileSync(join(folder, 'release', name)))
      .digest('hex');
    return `${sum}  ${name}\n`;
  });
  expect(text('release/SHA256SUMS')).toBe(sums.join(''));
});

it('has nothing to release without changes', () => {
  commit();
  expect(release('0.3.0').error).toContain('the section "Unreleased" of CHANGELOG.md is empty');
});
