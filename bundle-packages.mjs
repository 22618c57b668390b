// Bundles packages of many small files: Node takes most of a start to find and compile them, for each thread again.
// Each becomes one file in dist/packages/, and the compiled modules import that file. Our own modules stay as they are,
// because threads, child processes and schema files are found by their paths.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { rolldown } from 'rolldown';

/**
 * Packages of JavaScript only, which find no files by their own path. Another package that is not bundled must not
 * compare instances of their classes.
 */
const bundled = [
  '@fastify/swagger',
  'fastify',
  'pino',
  'prom-client',
  'qs',
  'typebox',
  'typebox/compile',
  'typebox/format',
  'undici',
];

/** An import or a dynamic import of a package, as the compiler writes it. */
const importPattern = /^import (?<clause>[^'"]+?) from '(?<from>[^'.][^']*)'|\bimport\('(?<dynamic>[^'.][^']*)'\)/gm;

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
  const bundle = await rolldown({
    input: used.map(([name]) => join(entries, fileNameOf(name))),
    platform: 'node',
    logLevel: 'warn',
  });
  await bundle.write({ dir: target, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'shared-[hash].js' });
  rmSync(entries, { recursive: true });

  const isUsed = new Map(used);
  for (const { path, code } of modules) {
    const bundleOf = (name) => {
      const way = relative(dirname(path), join(target, fileNameOf(name)));
      return way.startsWith('.') ? way : `./${way}`;
    };
    const pointed = code.replace(importPattern, (whole, ...rest) => {
      const { from, dynamic } = rest.at(-1);
      const name = from ?? dynamic;
      return isUsed.has(name) ? whole.replace(`'${name}'`, `'${bundleOf(name)}'`) : whole;
    });
    if (pointed !== code) writeFileSync(path, pointed);
  }
}
