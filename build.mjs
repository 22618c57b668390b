// Compiles to dist/, bundles packages of many files and the dashboard, and puts the schema files and the names of
// cities, which are read at run time, beside the code that reads them. A build that fails or is killed leaves dist/ as
// it was.
//
//   node build.mjs            builds
//   node build.mjs --check    fails if dist/ was not made from the present sources
//   node build.mjs --server   builds what a server needs besides the dashboard, and checks no types
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const root = import.meta.dirname;
const dist = join(root, 'dist');
const stampFile = 'sources.sha256';
/** Beside dist/, because imports and source maps are relative. Two builds at the same time have a folder each. */
const unfinished = join(root, `dist-${process.pid}.unfinished`);
const replaced = join(root, `dist-${process.pid}.replaced`);
const leftover = /^dist-(\d+)\.(unfinished|replaced)$/;
const dataFolders = [
  'schemas/avro',
  'schemas/clickhouse',
  'renderer/basemap/city-names',
  'renderer/basemap/region-names',
  'renderer/raster/compiled',
];

/** Returns a hash of everything that is compiled or copied. Test files are not: they run from source. */
function hashSources() {
  const { include } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
  const hash = createHash('sha256');
  for (const folder of [...include, 'dashboard'].filter((name) => existsSync(join(root, name))).toSorted()) {
    const names = readdirSync(join(root, folder), { recursive: true }).map((name) => `${folder}/${name}`);
    const isSource = (name) => /\.(tsx?|avsc|sql|css|html|svg|br|wasm)$/.test(name) && !name.endsWith('.test.ts');
    for (const name of names.filter(isSource).toSorted())
      hash.update(`${name}\0`).update(readFileSync(join(root, name)));
  }
  for (const name of [
    'tsconfig.json',
    'build.mjs',
    'bundle-packages.mjs',
    'dashboard/vite.config.mjs',
    'package-lock.json',
  ])
    hash.update(readFileSync(join(root, name)));
  return hash.digest('hex');
}

if (process.argv.includes('--check')) {
  const stamp = join(dist, stampFile);
  const built = existsSync(stamp) ? readFileSync(stamp, 'utf8') : undefined;
  if (built !== hashSources()) {
    process.stderr.write(`dist/ ${built ? 'was built from other sources' : 'is missing'}: run "npm run build" first\n`);
    process.exitCode = 1;
  }
} else {
  removeLeftovers();
  try {
    await build(process.argv.includes('--server'));
    replaceDist();
  } finally {
    for (const folder of [unfinished, replaced]) rmSync(folder, { recursive: true, force: true });
  }
}

async function build(isServerOnly) {
  const hash = hashSources();
  compile(isServerOnly ? ['--noCheck'] : []);
  const { bundlePackages } = await import('./bundle-packages.mjs');
  await bundlePackages(unfinished);
  for (const folder of dataFolders) cpSync(join(root, folder), join(unfinished, folder), { recursive: true });
  if (isServerOnly) return;
  // Programs that use the client need its types.
  compile(['--project', 'client']);
  await buildDashboard();
  writeFileSync(join(unfinished, stampFile), hash);
}

/** Between the two renames there is no dist/, so a program that starts then ends with a clear error. */
function replaceDist() {
  if (existsSync(dist)) renameSync(dist, replaced);
  renameSync(unfinished, dist);
}

/** Removes what killed builds left. */
function removeLeftovers() {
  for (const name of readdirSync(root)) {
    const pid = leftover.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(root, name), { recursive: true, force: true });
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch ({ code }) {
    return code !== 'ESRCH';
  }
}

function compile(options) {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '--outDir', unfinished, ...options], { cwd: root, stdio: 'inherit' });
}

/** Bundles the dashboard, and compresses its files once, so that the server never does. */
async function buildDashboard() {
  const { build } = await import('vite');
  const outDir = join(unfinished, 'dashboard');
  await build({ configFile: join(root, 'dashboard/vite.config.mjs'), build: { outDir } });
  const folder = join(outDir, 'assets');
  for (const name of readdirSync(folder).filter((name) => /\.(m?js|css|svg)$/.test(name))) {
    const content = readFileSync(join(folder, name));
    const params = { [constants.BROTLI_PARAM_QUALITY]: content.length < 400_000 ? 11 : 9 };
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content, { params }));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
  }
}
