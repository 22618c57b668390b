// Makes a release:  npm run release -- VERSION [--dry-run]
//
// Checks that nothing is uncommitted, sets the version, turns the changelog's "Unreleased" into the version's section,
// builds, and writes to release/: the package, the section, an SBOM (CycloneDX) of all packages that the build uses,
// and SHA256SUMS. It commits and publishes nothing. With --dry-run it only says what it would do.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = 'release';
/** What names the version besides package.json and its lock, with what stands before it. */
const namedIn = { 'docker-compose.yml': 'fenceline:', 'deploy/helm/Chart.yaml': 'ersion: ' };

const run = (program, ...words) =>
  execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 100_000_000 });

const pattern = /^(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.]+)?$/;

const say = (text) => process.stdout.write(`${text}\n`);

/** Compares versions. Of one number, a prerelease comes first, and prereleases have no order. */
function isNewer(version, former) {
  const [a, b] = [version, former].map((each) => pattern.exec(each).slice(1, 4).map(Number));
  const first = a.findIndex((number, index) => number !== b[index]);
  return first === -1 ? former.includes('-') : a[first] > b[first];
}

/** Returns the changelog with a section for the version, and the text of that section. */
function withSection(changelog, version, date) {
  const start = changelog.indexOf('\n## [Unreleased]\n');
  if (start === -1) throw new Error('CHANGELOG.md has no section "## [Unreleased]"');
  const textStart = start + '\n## [Unreleased]\n'.length;
  const next = changelog.indexOf('\n## [', textStart);
  const text = changelog.slice(textStart, next === -1 ? undefined : next).trim();
  if (text === '') throw new Error('the section "Unreleased" of CHANGELOG.md is empty');
  const after = next === -1 ? '' : changelog.slice(next);
  const section = `## [${version}] - ${date}\n\n${text}\n`;
  return { changelog: `${changelog.slice(0, textStart)}\n${section}${after}`, section };
}

function main([version, ...options]) {
  const isDry = options.includes('--dry-run');
  if (!pattern.test(version ?? '') || options.some((option) => option !== '--dry-run'))
    throw new Error('usage: npm run release -- VERSION [--dry-run], for example 1.2.0');
  const { name, version: former } = JSON.parse(readFileSync('package.json', 'utf8'));
  // The first release has the version that package.json has had since the beginning.
  const isFirst = version === former && run('git', 'tag', '--list', `v${version}`).trim() === '';
  if (!isFirst && !isNewer(version, former)) throw new Error(`${version} is not newer than ${former}`);
  const changed = run('git', 'status', '--porcelain').trim();
  if (changed !== '') throw new Error(`commit or remove these first:\n${changed}`);
  const { changelog, section } = withSection(
    readFileSync('CHANGELOG.md', 'utf8'),
    version,
    new Date().toISOString().slice(0, 10),
  );
  if (isDry) {
    say(`Would set version ${version} (now ${former}), build, and write to ${folder}/:`);
    say(['  the package', '  changelog.md', '  sbom.cdx.json', '  SHA256SUMS'].join('\n'));
    say(`\n${section}`);
    return;
  }

  run('npm', 'version', version, '--no-git-tag-version', '--allow-same-version');
  for (const [file, before] of Object.entries(namedIn)) {
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replaceAll(before + former, before + version));
  }
  writeFileSync('CHANGELOG.md', changelog);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(join(folder, 'changelog.md'), section);
  run('npm', 'pack', '--silent', '--pack-destination', folder);
  // Packages that are bundled count as development dependencies, so none are left out.
  const sbom = JSON.parse(run('npm', 'sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'));
  // npm takes the name of the folder.
  sbom.metadata.component.name = name;
  writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(sbom, null, 2)}\n`);
  const sums = readdirSync(folder)
    .toSorted()
    .map((name) => {
      const sum = createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex');
      return `${sum}  ${name}\n`;
    });
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
  say(`Wrote ${folder}/. Next: commit, tag v${version}, and publish.`);
}

try {
  main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`release: ${error.message}\n`);
  process.exitCode = 1;
}
