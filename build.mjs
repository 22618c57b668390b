// Compiles to dist/, bundles packages of many files and the dashboard, and puts the schema files and the names of
// cities, which are read at run time, beside the code that reads them.
//
//   node build.mjs            builds
//   node build.mjs --check    fails if dist/ was not made from the present sources
//   node build.mjs --server   builds what a server needs besides the dashboard, and checks no types
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const root = import.meta.dirname;
const stampFile = join(root, 'dist/sources.sha256');
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
  const built = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : undefined;
  if (built !== hashSources()) {
    process.stderr.write(`dist/ ${built ? 'was built from other sources' : 'is missing'}: run "npm run build" first\n`);
    process.exitCode = 1;
  }
} else if (process.argv.includes('--server')) {
  await buildServer(['--noCheck']);
} else {
  const hash = hashSources();
  await buildServer([]);
  // Programs that use the client need its types.
  compile(['--project', 'client']);
  await buildDashboard();
  writeFileSync(stampFile, hash);
}

async function buildServer(options) {
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  compile(options);
  const { bundlePackages } = await import('./bundle-packages.mjs');
  await bundlePackages(join(root, 'dist'));
  for (const folder of dataFolders) cpSync(join(root, folder), join(root, 'dist', folder), { recursive: true });
}

function compile(options) {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, ...options], { cwd: root, stdio: 'inherit' });
}

/** Bundles the dashboard, and compresses its files once, so that the server never does. */
async function buildDashboard() {
  const { build } = await import('vite');
  await build({ configFile: join(root, 'dashboard/vite.config.mjs') });
  const folder = join(root, 'dist/dashboard/assets');
  for (const name of readdirSync(folder).filter((name) => /\.(m?js|css|svg)$/.test(name))) {
    const content = readFileSync(join(folder, name));
    const params = { [constants.BROTLI_PARAM_QUALITY]: content.length < 400_000 ? 11 : 9 };
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content, { params }));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
  }
}
