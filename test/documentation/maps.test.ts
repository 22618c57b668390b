/** What docs/maps.md shows: uploads to a server, the command, and the renderer as a library. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import sharp from 'sharp';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { cacheHomeWithBasemap } from '../support/basemap.js';
import { program } from '../support/program.js';
import { SharedServer } from '../support/shared-server.js';

const guide = readFileSync(new URL('../../docs/maps.md', import.meta.url), 'utf8');
const blockOf = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? '';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-maps-'));
afterAll(() => rmSync(folder, { recursive: true }));
const cacheHome = await cacheHomeWithBasemap();
const env = { ...process.env, XDG_CACHE_HOME: cacheHome };

const draw = (...args: string[]) =>
  spawnSync(process.execPath, [program, 'map', ...args], { cwd: folder, env, encoding: 'utf8' });

describe('docs/maps.md', () => {
  it('has calls that upload a style and a marker, and draw with them', async () => {
    const server = await SharedServer.newProject();
    const background = { id: 'ground', type: 'background', paint: { 'background-color': '#102030' } };
    writeFileSync(join(folder, 'style.json'), JSON.stringify({ version: 8, sources: {}, layers: [background] }));
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40" fill="#f0f"/></svg>';
    writeFileSync(join(folder, 'shop.svg'), svg);
    const calls = blockOf('bash').trim().replaceAll('\\\n', ' ').split('\n');
    const { test_secret: SK, test_publishable: PK } = server.keys;
    const ids: Record<string, string> = {};
    for (const call of calls) {
      const answer = execFileSync('bash', ['-e', '-c', `${call} -s`], {
        cwd: folder,
        env: { ...env, FENCELINE: server.address, SK, PK, ...ids },
      });
      if (answer.length === 0) continue;
      const { mapStyle, mapMarker } = JSON.parse(`${answer}`);
      Object.assign(ids, mapStyle ? { STYLE: mapStyle._id } : { MARKER: mapMarker._id });
    }
    const pixels = await sharp(join(folder, 'map.png')).raw().toBuffer();
    const colors = [0, 3 * (200 * 600 + 300) - 3 * 600 * 10].map((i) => pixels.subarray(i, i + 3).toString('hex'));
    expect(colors).toEqual(['102030', 'ff00ff']);
  });

  // It said that a marker cannot be changed, long after it could.
  it('lists every call of maps, styles and markers', () => {
    const outline = readFileSync(new URL('../../docs/api-outline.txt', import.meta.url), 'utf8');
    const calls = [...outline.matchAll(/^([A-Z]+) (\/maps\/|\/v1\/map-)(\S+)/gm)].map(
      ([, method = '', start = '', rest = '']) => [method, `${start}${rest}`] as const,
    );
    expect(calls.length).toBeGreaterThan(15);
    /** Paths as the tables write them, with all methods before them. */
    const listed = [...guide.matchAll(/`([A-Z, `]+) (\/[^` ]+)`/g)].flatMap(([, methods = '', path = '']) =>
      methods.split(/[`, ]+/).map((method) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`),
    );
    expect(calls.map((call) => call.join(' ')).filter((call) => !listed.includes(call))).toEqual([]);
  });

  it('has commands that draw into files, from the basemap and from an archive', async () => {
    const archive = new URL('../../renderer/reference/archives/florence.pmtiles', import.meta.url);
    symlinkSync(archive, join(folder, 'florence.pmtiles'));
    const commands = blockOf('sh').replaceAll('npm run fenceline --', `"${process.execPath}" "${program}"`);
    execFileSync('bash', ['-e', '-c', commands], { cwd: folder, env });
    // From bytes: sharp remembers a file by its name, and other tests write files of these names.
    const sizeOf = async (name: string) => sharp(readFileSync(join(folder, name))).metadata();
    expect(await sizeOf('map.png')).toMatchObject({ format: 'png', width: 1600, height: 1000 });
    expect(await sizeOf('map.webp')).toMatchObject({ format: 'webp', width: 600, height: 400 });
  });

  it('has a program that uses the renderer as a library', async () => {
    const code = blockOf('js')
      .replace(/(['"])\/tmp\/maps\1/, JSON.stringify(join(cacheHome, 'fenceline')))
      .replace(/(['"])map\.png\1/, JSON.stringify(join(folder, 'library.png')));
    execFileSync(process.execPath, ['--input-type=module', '--eval', code], { cwd: resolve(program, '../../..') });
    expect(await sharp(join(folder, 'library.png')).metadata()).toMatchObject({
      format: 'png',
      width: 600,
      height: 400,
    });
  });
});

describe('fenceline map', () => {
  // It printed nothing for the seconds, or on a busy machine the minute, that baking takes.
  it('says that it bakes the basemap when it does, and only then', async () => {
    const query = 'width=200&height=100&center=43,11&zoom=4';
    expect(draw(query, '-o', 'quiet.png').stderr).toBe('');
    const fresh = { ...env, XDG_CACHE_HOME: join(folder, 'fresh') };
    const child = spawn(process.execPath, [program, 'map', query, '-o', 'fresh.png'], { cwd: folder, env: fresh });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [line] = (await once(child.stderr, 'data')) as [Buffer];
    const path = join(folder, 'fresh/fenceline/basemap/basemap-');
    expect(`${line}`).toMatch(/^bakes the built-in basemap once, which takes some seconds: .+\.pmtiles\n$/);
    expect(`${line}`).toContain(path);
  });

  it('takes the format from the ending, unless the query has one', async () => {
    expect(
      draw('width=200&height=100&center=43,11&zoom=4&markers=43,11&markers=color:red|44,11', '-o', 'map.webp').status,
    ).toBe(0);
    expect(await sharp(join(folder, 'map.webp')).metadata()).toMatchObject({ format: 'webp', width: 200, height: 100 });
    expect(draw('width=200&height=100&center=43,11&zoom=4&format=png', '-o', 'other.jpg').status).toBe(0);
    expect(await sharp(join(folder, 'other.jpg')).metadata()).toMatchObject({ format: 'png' });
  });

  // It never ended.
  it('ends when the system does not create the folder of the basemap', () => {
    const options = { cwd: folder, env: { ...env, XDG_CACHE_HOME: '/proc/fenceline' }, timeout: 240_000 } as const;
    const args = [program, 'map', 'width=200&height=100&center=43,11&zoom=4', '-o', 'x.png'];
    const { status, stderr } = spawnSync(process.execPath, args, {
      ...options,
      killSignal: 'SIGKILL',
      encoding: 'utf8',
    });
    const reason = '(the system refuses to create it|this user has no permission|its disk is read-only)';
    expect(stderr).toMatch(new RegExp(`^fenceline: the basemap could not be drawn: ${reason}\n$`));
    expect(status).toBe(1);
  });

  it.each([
    [['width=20&height=100&center=43,11&zoom=4', '-o', 'x.png'], 'width: must be'],
    [['width=200&height=100&center=43,11&zoom=4&style=mine', '-o', 'x.png'], 'style: must be'],
    [['width=200&height=100&geofences=store', '-o', 'x.png'], 'geofences: '],
    [['width=200&height=100&center=43,11&zoom=4'], 'map requires -o FILE'],
    [['-o', 'x.png'], 'one query'],
  ])('reports what is wrong: %j', (args, message) => {
    const { status, stderr } = draw(...args);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
  });
});
