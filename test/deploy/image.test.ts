/**
 * Checks the image without Docker: Dockerfile copies files that exist, the build context imports nothing outside of it,
 * and the health check is right.
 */
import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { readRepositoryFile, repositoryFile } from './compose.js';

const dockerfile = readRepositoryFile('Dockerfile');
/** Folders that npm and the build create. */
const made = ['node_modules', 'dist', '.git', 'optional', 'engine', 'data'];

const entriesOf = (folder: string, recursive: boolean) =>
  readdirSync(fileURLToPath(repositoryFile(folder)), { withFileTypes: true, recursive });
const files = entriesOf('.', false)
  .filter(({ name }) => !made.includes(name))
  .flatMap((entry) => {
    if (entry.isFile()) return [entry.name];
    const root = fileURLToPath(repositoryFile('.'));
    return entriesOf(entry.name, true)
      .filter((child) => child.isFile())
      .map((child) => posix.join(child.parentPath, child.name).slice(root.length));
  });

const patternOf = (glob: string): RegExp =>
  new RegExp(
    `^${glob
      .replaceAll('.', '\\.')
      .replaceAll('**/', '(.*/)?')
      .replaceAll(/(?<![.)])\*/g, '[^/]*')}$`,
  );

/** As in Docker, the last pattern that matches a path or a folder above it decides. */
const rules = readRepositoryFile('.dockerignore')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => ({ pattern: patternOf(line.replace('!', '')), isIgnored: !line.startsWith('!') }));

function isInContext(path: string): boolean {
  const steps = path.split('/').map((_, index, names) => names.slice(0, index + 1).join('/'));
  return rules.findLast(({ pattern }) => steps.some((step) => pattern.test(step)))?.isIgnored === false;
}
const context = new Set(files.filter(isInContext));

describe('the build context', () => {
  it('contains every module of the program, and no test', () => {
    const modules: string[] = JSON.parse(readRepositoryFile('tsconfig.json')).include;
    for (const module of modules.filter((name) => !['bench', 'test', 'testing'].includes(name)))
      expect(
        [...context].filter((path) => path.startsWith(`${module}/`)),
        module,
      ).not.toEqual([]);
    expect([...context].filter((path) => /\.test\.ts$|^test(ing)?\/|^bench\/|^\.env|^data\//.test(path))).toEqual([]);
  });

  it('imports nothing that is excluded', () => {
    const missing = [...context]
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) =>
        [...readRepositoryFile(path).matchAll(/(?:from|import) '(\.[^']+)\.js'/g)]
          .map(([, target]) => `${posix.join(posix.dirname(path), target as string)}.ts`)
          .filter((target) => !context.has(target))
          .map((target) => `${path} imports ${target}`),
      );
    expect(missing).toEqual([]);
  });

  it('has what Dockerfile copies', () => {
    const copies = [...dockerfile.matchAll(/^COPY (?:--from=([\w-]+) )?(?:--chown=\S+ )?(.+) \S+$/gm)];
    expect(copies.length).toBeGreaterThan(4);
    for (const [, stage, sources = ''] of copies) {
      for (const source of sources.split(' ').map((each) => each.replace('/fenceline/', ''))) {
        const isMade = stage !== undefined && made.includes(source);
        expect(source === '.' || isMade || context.has(source), source).toBe(true);
      }
    }
  });
});

describe('Dockerfile', () => {
  it('leaves the analytics engine out by default', () => {
    const stages = dockerfile.split(/^(?=FROM )/m).slice(1);
    expect(stages.at(-1)?.trim()).toBe('FROM fenceline');
    expect(stages.filter((stage) => /^COPY .*\/engine /m.test(stage)).map((stage) => stage.split('\n')[0])).toEqual([
      'FROM fenceline AS analytics',
    ]);
  });

  it('uses one supported version of Node, builds without emulation, and does not run as root', () => {
    const bases = [...dockerfile.matchAll(/^FROM --platform=\$(\w+) (node:\S+)/gm)];
    expect(new Set(bases.map(([, , base]) => base)).size).toBe(1);
    expect(bases.map(([, platform]) => platform)).toEqual(['BUILDPLATFORM', 'BUILDPLATFORM', 'TARGETPLATFORM']);
    const [, major, minor] = /^node:(\d+)\.(\d+)\.\d+-/.exec(bases[0]![2]!)!.map(Number);
    const [, wanted, atLeast] = /^>=(\d+)\.(\d+)$/
      .exec(JSON.parse(readRepositoryFile('package.json')).engines.node)!
      .map(Number);
    expect(major! * 1_000 + minor!).toBeGreaterThanOrEqual(wanted! * 1_000 + atLeast!);
    expect(dockerfile).toMatch(/^USER (?!root)\w+$/m);
  });
});

describe('optional packages of an image', () => {
  /** Makes a folder with two installed packages: the engine without a library, and the router of two processors. */
  function installation() {
    const folder = mkdtempSync(join(tmpdir(), 'fenceline-image-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const name of ['package.json', 'package-lock.json']) copyFileSync(repositoryFile(name), join(folder, name));
    const router = 'node_modules/@valhallajs/valhallajs/linux';
    for (const path of ['node_modules/chdb', `${router}/arm64`, `${router}/x64`]) {
      mkdirSync(join(folder, path), { recursive: true });
      writeFileSync(join(folder, path, 'package.json'), '{}');
    }
    const program = fileURLToPath(repositoryFile('deploy/optional-packages.mjs'));
    const copy = (...args: string[]) =>
      spawnSync(process.execPath, [program, 'copied', ...args], { cwd: folder, encoding: 'utf8' });
    return { copy, copied: join(folder, 'copied') };
  }

  it("contain the programs of the image's processor only", () => {
    const { copy, copied } = installation();
    expect(copy('others', 'arm64')).toMatchObject({ status: 0, stderr: '' });
    expect(readdirSync(join(copied, '@valhallajs/valhallajs/linux'))).toEqual(['arm64']);
  });

  it('are not an analytics engine without its library', () => {
    const { status, stderr } = installation().copy('engine', 'arm64');
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('library of chdb for arm64') });
  });
});

/** Lays the script where the image has it, beside the packages that the build contains, and without others. */
function imageOfHealthCheck(): { readonly folder: string; readonly script: string } {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-health-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const [, place] = /^COPY .*deploy\/healthcheck\.mjs (\S+)$/m.exec(dockerfile)!;
  const [, script] = /^HEALTHCHECK .*CMD \["node", "(\S+)"\]$/m.exec(dockerfile)!;
  mkdirSync(join(folder, 'dist'));
  symlinkSync(repositoryFile('dist/node_modules'), join(folder, 'dist/node_modules'));
  copyFileSync(repositoryFile('deploy/healthcheck.mjs'), join(folder, place!, 'healthcheck.mjs'));
  return { folder, script: script! };
}

describe('the health check', () => {
  const image = imageOfHealthCheck();

  /** Checks a server on the port. Returns the exit status. */
  const check = (port: number): Promise<number> => checkWith({ FENCELINE_PORT: `${port}` });

  const checkWith = (env: Readonly<Record<string, string>>): Promise<number> =>
    new Promise((resolve) => {
      const child = execFile(process.execPath, [image.script], { cwd: image.folder, env });
      child.once('exit', (code) => resolve(code ?? -1));
    });

  async function portOfServer(status: number, host = '127.0.0.1'): Promise<number> {
    const server = createServer(({ url }, response) =>
      response.writeHead(url === '/health/ready' ? status : 404).end(),
    );
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    onTestFinished(() => void server.close());
    return (server.address() as AddressInfo).port;
  }

  it('passes exactly when the server is ready', async () => {
    expect(await check(await portOfServer(200))).toBe(0);
    expect(await check(await portOfServer(503))).toBe(1);
    expect(await check(1)).toBe(1);
  });

  // It asked 127.0.0.1:8080, whatever the file said. Later it did not find the reader of YAML in the image.
  it('asks the host and the port of the configuration file, unless variables say others', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fenceline-health-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const FENCELINE_CONFIG = join(folder, 'node.yaml');
    writeFileSync(FENCELINE_CONFIG, `host: 127.0.0.2\nport: ${await portOfServer(200, '127.0.0.2')}\n`);
    expect(await checkWith({ FENCELINE_CONFIG })).toBe(0);
    expect(await checkWith({ FENCELINE_CONFIG, FENCELINE_HOST: '0.0.0.0' })).toBe(1);
    expect(await checkWith({ FENCELINE_CONFIG, FENCELINE_PORT: '1' })).toBe(1);
  });

  // Compose sets an empty variable for one that the environment lacks.
  it('has no configuration file where the variable is empty', async () => {
    expect(await checkWith({ FENCELINE_CONFIG: '', FENCELINE_PORT: `${await portOfServer(200)}` })).toBe(0);
  });
});
