// Writes the import rules of biome.json from the diagram of modules in docs/architecture.md: node .ci/import-rules.mjs
// Run it after a change of the diagram. test/documentation/architecture.test.ts fails when they disagree.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const diagram = /```mermaid\n([\s\S]*?)```/.exec(readFileSync('docs/architecture.md', 'utf8'))[1];
const arrows = [...diagram.matchAll(/(\w+) --> (\w+)/g)].map(([, from, to]) => [from, to]);
const isTestCode = (module) => module === 'test' || module === 'testing';
const modules = [...new Set(arrows.flat())].filter((module) => !isTestCode(module));

/** The inside of the pipeline, in order. */
const pipeline = ['geometry', 'evaluation', 'catalog', 'records', 'stages'];
const inputAndOutput = [
  ...[
    'node:fs',
    'node:fs/**',
    'node:http',
    'node:timers',
    'node:timers/**',
    'node:worker_threads',
    'node:child_process',
  ],
  '**/ports.js',
];
/** These must not import the inside of a stage, which is their neighbour. */
const beforeStages = ['backends', 'ingest', 'api'];

const tests = { group: ['**/testing/**', '**/test/**', '**/*.test.js'], message: 'Only tests import test code.' };
const testsOfBench = { ...tests, group: ['**/test/**'] };

function reachable(module, found = new Set()) {
  for (const [from, to] of arrows) {
    if (from !== module || found.has(to)) continue;
    found.add(to);
    reachable(to, found);
  }
  return found;
}

const folders = (names) => names.map((name) => `**/${name}/**`);
const others = (module) => modules.filter((other) => other !== module && !reachable(module).has(other));
const rule = (folder, patterns) => ({
  includes: [`${folder}/**`],
  linter: { rules: { style: { noRestrictedImports: { level: 'error', options: { patterns } } } } },
});

function ruleOfModule(module) {
  const message = `${module} has no arrow to this module in the diagram of docs/architecture.md.`;
  return rule(module, [
    ...(others(module).length > 0 ? [{ group: folders(others(module)), message }] : []),
    ...(beforeStages.includes(module)
      ? [{ group: ['**/pipeline/stages/**'], message: `${module} does not import the inside of a stage.` }]
      : []),
    module === 'bench' ? testsOfBench : tests,
  ]);
}

function ruleInPipeline(part, index) {
  const isPure = index < 2;
  const message = `pipeline/${part} imports only the parts before it${isPure ? ', and does no input or output' : ''}.`;
  const group = [...folders([...others('pipeline'), ...pipeline.slice(index + 1)]), ...(isPure ? inputAndOutput : [])];
  return rule(`pipeline/${part}`, [{ group, message }, tests]);
}

const biome = JSON.parse(readFileSync('biome.json', 'utf8'));
biome.overrides = [
  ...biome.overrides.filter(({ linter }) => linter.rules?.style?.noRestrictedImports === undefined),
  ...modules.map(ruleOfModule),
  // Later rules replace earlier ones, so these follow the one of the pipeline.
  ...pipeline.slice(0, -1).map(ruleInPipeline),
  {
    includes: ['**/*.test.ts', '**/testing/**', 'test/**', 'renderer/reference/**'],
    linter: { rules: { style: { noRestrictedImports: 'off' } } },
  },
];
writeFileSync('biome.json', JSON.stringify(biome));
execFileSync('npx', ['biome', 'format', '--write', 'biome.json'], { stdio: 'inherit' });
