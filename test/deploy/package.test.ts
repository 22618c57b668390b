/** Packs the npm package, installs it in an empty folder, and runs what the README shows. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { launchServer } from '../../server/server-process.js';
import { until } from '../../testing/until.js';
import { placeBasemap } from '../support/basemap.js';
import { Client } from '../support/client.js';
import { patientReplies } from '../support/server.js';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const readme = readFileSync(join(repository, 'README.md'), 'utf8');
/** Where the first example of the README is. */
const duomo = { latitude: 43.7731, longitude: 11.256, accuracy: 10 };
const maxBytes = 150_000_000;
const maxImageBytes = 700_000_000;
/** Debian, Node and npm: docs/decisions/061-npm-package.md. */
const baseImageBytes = 263_000_000;

/** Node also finds packages in the folders above, so these must have none. */
const base = [tmpdir(), '/var/tmp'].find((path) => !existsSync(join(path, 'node_modules'))) ?? tmpdir();
const folder = mkdtempSync(join(base, 'fenceline-package-'));
const project = join(folder, 'project');
let packed: readonly string[];

const npm = (cwd: string, ...words: string[]): string =>
  execFileSync('npm', [...words, '--no-audit', '--no-fund'], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

function bytesBelow(path: string): number {
  const entries = readdirSync(path, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

beforeAll(() => {
  const [tarball] = JSON.parse(npm(repository, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder));
  packed = tarball.files.map(({ path }: { path: string }) => path);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{}');
  npm(project, 'install', '--omit=dev', '--prefer-offline', '--no-package-lock', join(folder, tarball.filename));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the npm package', () => {
  it('contains the program, and neither tests, benchmarks nor caches', () => {
    expect(packed).toEqual(expect.arrayContaining(['dist/cli/main.js', 'dist/client/client.d.ts', 'LICENSE']));
    const unwanted = /^(?!dist\/|package\.json|README|LICENSE|CHANGELOG)|^dist\/(test|bench)\/|\.test\.js$|\.map$|\/\./;
    expect(packed.filter((path) => unwanted.test(path))).toEqual([]);
  });

  it('imports only packages that it installs, contains or names as optional', () => {
    const root = join(project, 'node_modules/fenceline');
    const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const contained = readdirSync(join(root, 'dist/node_modules'));
    const known = [...Object.keys(dependencies), ...Object.keys(peerDependencies), ...contained];
    const imports =
      /^(?:import|export)\b[^'"();=]*? from '([^'.][^']*)'|^import '([^'.][^']*)'|\bimport\('([^'.][^']*)'\)/gm;
    // Bundles, pages and parts of packages have no imports of packages, but texts that look like them.
    const modules = packed.filter((path) => /^dist\/(?!packages|node_modules|dashboard).*\.js$/.test(path));
    expect(modules.length).toBeGreaterThan(500);
    const unknown = modules.flatMap((path) =>
      Array.from(
        readFileSync(join(root, path), 'utf8').matchAll(imports),
        ([, from, whole, dynamic]) => (from ?? whole ?? dynamic) as string,
      )
        .filter((name) => !isBuiltin(name) && !known.some((each) => `${name}/`.startsWith(`${each}/`)))
        .map((name) => `${path}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  it('takes at most 150 MB with all that it installs', () => {
    const find = () => createRequire(join(project, 'any.js')).resolve('chdb');
    expect(find, 'a folder above this one has chdb').toThrow('Cannot find module');
    expect(bytesBelow(join(project, 'node_modules'))).toBeLessThan(maxBytes);
  });

  it('has a client with types', () => {
    const use = `
      import { createClient } from 'fenceline/client';
      const fenceline = createClient({ address: 'http://127.0.0.1:1', key: 'prj_test_sk_1', maxRetries: 0 });
      const tag = (id: string): Promise<string | undefined> =>
        fenceline.call('GET /v1/geofences/{id}', { path: { id } }).then(({ geofence }) => geofence.tag);
      console.log(await tag('1').catch((error: Error) => error.name));
      // @ts-expect-error the path has no such parameter
      void (() => fenceline.call('GET /v1/geofences/{id}', { path: { externalId: '1' } }));`;
    writeFileSync(join(project, 'use.mts'), use);
    const compiler = join(repository, 'node_modules/.bin/tsc');
    const options = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--types', '', '--ignoreConfig'];
    execFileSync(compiler, [...options, 'use.mts'], { cwd: project, encoding: 'utf8' });
    const output = execFileSync(process.execPath, ['use.mjs'], { cwd: project, encoding: 'utf8' });
    expect(output).toBe('NoAnswerError\n');
  });

  it('is an image below 700 MB, with all optional parts but the analytics engine and with the basemap', async () => {
    const optional = join(folder, 'optional');
    execFileSync(process.execPath, ['deploy/optional-packages.mjs', optional, 'others'], { cwd: repository });
    const data = join(folder, 'data');
    await placeBasemap(data);
    const bytes = [join(project, 'node_modules'), optional, data].reduce((sum, path) => sum + bytesBelow(path), 0);
    expect(bytes + baseImageBytes).toBeLessThan(maxImageBytes);
  });

  // It ended with a stack trace after the drive, because it asked for events that the server does not list.
  it('runs the demo, and says that stored events are not compared', () => {
    const program = join(project, 'node_modules/fenceline/dist/cli/main.js');
    const words = ['demo', '--seconds', '2', '--devices', '20', '--rate', '20'];
    const output = execFileSync(process.execPath, [program, ...words], { cwd: project, encoding: 'utf8' });
    expect(output).toMatch(/^ok {2}locations /m);
    expect(output).toMatch(/^-- {2}events .* not compared with stored ones: .*npm install chdb/m);
  });

  it('serves the first example of the README, and names the command that adds analytics', async () => {
    const dataFolder = join(project, 'data');
    await placeBasemap(dataFolder);
    const program = join(project, 'node_modules/fenceline/dist/cli/main.js');
    const server = launchServer({ program, dataFolder, environment: patientReplies });
    onTestFinished(async () => void (await server.stop()));
    const { address, keys } = await server.ready;
    const block = readme.match(/```sh\n(curl -X PUT[\s\S]*?)```/)?.[1] as string;
    const script = block.replaceAll(/^curl /gm, 'curl --silent --show-error --write-out "\\n" ');
    const env = { ...process.env, FENCELINE: address, SK: keys!.test_secret, PK: keys!.test_publishable };
    const answers = execFileSync('bash', ['-e', '-c', script], { env, encoding: 'utf8' }).trim().split('\n');
    expect(answers.filter(Boolean).map((line) => JSON.parse(line))).toMatchObject([
      { meta: { code: 200 } },
      { meta: { code: 200 }, events: [{ type: 'user.entered_geofence' }] },
      { meta: { code: 200 }, events: [{ type: 'user.exited_geofence' }] },
    ]);

    const client = new Client(() => address, keys!.test_secret);
    for (const answer of [await client.get('/v1/events'), await client.delete('/v1/users/phone-1')]) {
      expect(answer.status).toBe(400);
      expect(answer.body.meta).toMatchObject({
        type: 'not_available',
        message: expect.stringMatching('npm install chdb'),
      });
    }
    const page = await fetch(`${address}/docs/`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('swagger-ui')]);
    const map = await client.get('/maps/static?center=43.77,11.25&zoom=8&width=200&height=200');
    expect(map.status).toBe(200);
    await until(() => server.log().join('\n').includes('analytics are missing'), {
      describe: () => server.log().join('\n'),
    });

    // The command once ended with a module that was not found, and a restore required the analytics engine.
    const fenceline = (...words: string[]) =>
      execFileSync(process.execPath, [program, ...words], { cwd: project, encoding: 'utf8' });
    const running = ['--data', dataFolder, '--address', address];
    const entered = await client.track({ deviceId: 'phone-1', ...duomo });
    expect(entered.events).toMatchObject([{ type: 'user.entered_geofence' }]);
    expect(fenceline('backup', 'of-running', ...running)).toMatch(/everything acknowledged before/);
    await server.stop();
    expect(fenceline('backup', 'of-stopped', '--data', dataFolder)).toMatch(/everything acknowledged before/);
    const key = join(dataFolder, 'encryption-key');
    for (const name of ['of-running', 'of-stopped']) {
      const restored = join(project, `restored-${name}`);
      fenceline('restore', name, '--data', restored, '--encryption-key', key);
      const again = launchServer({ program, dataFolder: restored, environment: patientReplies });
      onTestFinished(async () => void (await again.stop()));
      const { address: restoredAddress } = await again.ready;
      const restoredClient = new Client(() => restoredAddress, keys!.test_secret);
      // The device has entered before the backup, so it does not enter again.
      const { events, user } = await restoredClient.track({ deviceId: 'phone-1', ...duomo });
      expect([events, user]).toMatchObject([[], { geofences: [{ externalId: 'duomo' }] }]);
      await again.stop();
    }
  });
});
