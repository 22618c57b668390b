// Copies optional packages out of node_modules, with what they need, for an image: npm installs them for development
// only. Leaves out programs of the router for other platforms, and weights of fonts that no map uses.
//
//   node deploy/optional-packages.mjs TARGET engine [CPU]    chdb
//   node deploy/optional-packages.mjs TARGET others [CPU]    the router and fonts
//
// CPU is the processor that npm installed for, in its words: by default that of this machine.
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [target, which, processor = process.arch] = process.argv.slice(2);
const { dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const { packages: locked } = JSON.parse(readFileSync('package-lock.json', 'utf8'));

const router = `@valhallajs/valhallajs/${process.platform}/${processor}`;
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

const isEngineWanted = which === 'engine';
for (const name of Object.keys(peerDependencies).filter((name) => (name === 'chdb') === isEngineWanted)) copy(name);

const engines = Object.keys(locked['node_modules/chdb'].optionalDependencies);
// npm skips an optional package that it does not find, and an image without the engine must not have its tag.
if (isEngineWanted && !engines.some((name) => existsSync(join(target, name)))) {
  process.stderr.write(`npm has not installed the library of chdb for ${processor}: does the registry hold it?\n`);
  process.exit(1);
}
