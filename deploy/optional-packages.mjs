// Copies optional packages out of node_modules, with what they need, for an image: npm installs them for development
// only. Leaves out programs of the router for other platforms, and weights of fonts that no map uses.
//
//   node deploy/optional-packages.mjs TARGET engine    chdb
//   node deploy/optional-packages.mjs TARGET others    the router and fonts
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [target, which] = process.argv.slice(2);
const { dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const { packages: locked } = JSON.parse(readFileSync('package-lock.json', 'utf8'));

const router = `@valhallajs/valhallajs/${process.platform}/${process.arch}`;
const usedWeights = /\/(400Regular|500Medium|700Bold)(\/|$)/;

function isWanted(path) {
  const name = path.split('node_modules/').at(-1);
  if (/^@valhallajs\/valhallajs\/(darwin|linux)\b/.test(name))
    return router.startsWith(name) || name.startsWith(router);
  return !/^@expo-google-fonts\/[^/]+\/\d/.test(name) || usedWeights.test(`/${name}/`);
}

function copy(name) {
  const from = join('node_modules', name);
  // Packages of other platforms are not installed, and those of the program are there already.
  if (!existsSync(from) || name in dependencies || existsSync(join(target, name))) return;
  cpSync(from, join(target, name), { recursive: true, filter: isWanted });
  const { dependencies: needed, optionalDependencies: builds } = locked[from];
  for (const each of Object.keys({ ...needed, ...builds })) copy(each);
}

const isEngine = (name) => name === 'chdb';
for (const name of Object.keys(peerDependencies).filter((name) => isEngine(name) === (which === 'engine'))) copy(name);
