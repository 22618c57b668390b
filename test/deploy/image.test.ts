/**
 * Checks the image without Docker: Dockerfile copies files that exist, the build context imports nothing outside of it,
 * and the health check is right.
 */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readRepositoryFile, repositoryFile } from './compose.js';

const dockerfile = readRepositoryFile('Dockerfile');
/** Folders that npm and the build create. */
const made = ['node_modules', 'dist', '.git', 'optional', 'engine'];

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
    const copies = [...dockerfile.matchAll(/^COPY (?:--from=(\w+) )?(.+) \S+$/gm)];
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

  it('uses one version of Node, which is supported, and does not run as root', () => {
    const bases = [...dockerfile.matchAll(/^FROM (node:\S+)/gm)].map(([, base]) => base as string);
    expect(new Set(bases).size).toBe(1);
    const [, major, minor] = /^node:(\d+)\.(\d+)\.\d+-/.exec(bases[0]!)!.map(Number);
    const [, wanted, atLeast] = /^>=(\d+)\.(\d+)$/
      .exec(JSON.parse(readRepositoryFile('package.json')).engines.node)!
      .map(Number);
    expect(major! * 1_000 + minor!).toBeGreaterThanOrEqual(wanted! * 1_000 + atLeast!);
    expect(dockerfile).toMatch(/^USER (?!root)\w+$/m);
  });
});

describe('the health check', () => {
  const script = fileURLToPath(repositoryFile('deploy/healthcheck.mjs'));

  /** Checks a server on the port. Returns the exit status. */
  const check = (port: number): Promise<number> =>
    new Promise((resolve) => {
      const child = execFile(process.execPath, [script], { env: { FENCELINE_PORT: `${port}` } });
      child.once('exit', (code) => resolve(code ?? -1));
    });

  async function portOfServer(status: number): Promise<number> {
    const server = createServer(({ url }, response) =>
      response.writeHead(url === '/health/ready' ? status : 404).end(),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return (server.address() as AddressInfo).port;
  }

  it('passes exactly when the server is ready', async () => {
    expect(await check(await portOfServer(200))).toBe(0);
    expect(await check(await portOfServer(503))).toBe(1);
    expect(await check(1)).toBe(1);
  });
});
