/** The diagram of modules in docs/architecture.md is what the linter enforces. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

const text = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const document = text('docs/architecture.md');

interface Override {
  readonly includes: readonly string[];
  readonly linter: {
    readonly rules?: { readonly style?: { readonly noRestrictedImports?: RestrictedImports | 'off' } };
  };
}
interface RestrictedImports {
  readonly options: { readonly patterns: readonly { readonly group: readonly string[] }[] };
}

const diagram = /```mermaid\n([\s\S]*?)```/.exec(document)![1]!;
const arrows = [...diagram.matchAll(/(\w+) --> (\w+)/g)].map(([, from, to]) => [from!, to!] as const);
const modules = [...new Set(arrows.flat())];

/** Returns the modules that a module reaches by arrows. */
function reachable(module: string, found = new Set<string>()): Set<string> {
  for (const [from, to] of arrows) {
    if (from !== module || found.has(to)) continue;
    found.add(to);
    reachable(to, found);
  }
  return found;
}

/** Returns the modules that the linter refuses in imports of a module. */
function refused(module: string): Set<string> {
  // YAML contains JSON.
  const { overrides } = parse(text('biome.json')) as { readonly overrides: readonly Override[] };
  const rules = overrides
    .filter(({ includes }) => includes.includes(`${module}/**`))
    .map(({ linter }) => linter.rules?.style?.noRestrictedImports)
    .filter((rule) => typeof rule === 'object');
  const patterns = rules.flatMap((rule) => rule.options.patterns.flatMap(({ group }) => group));
  return new Set(modules.filter((other) => patterns.includes(`**/${other}/**`)));
}

const product = modules.filter((module) => module !== 'testing' && module !== 'test');

describe('the linter refuses an import for which the diagram has no arrow', () => {
  test.each(product)('from %s', (module) => {
    const others = modules.filter((other) => other !== module && !reachable(module).has(other));
    expect([...refused(module)].sort()).toEqual(others.sort());
  });
});

test('the diagram has every module, and no cycle', () => {
  for (const module of modules) expect(reachable(module)).not.toContain(module);
  const folders = readdirSync(new URL('../..', import.meta.url), { withFileTypes: true })
    .filter(
      (entry) => entry.isDirectory() && !/^(\.|node_modules|dist|data|coverage|docs|deploy|examples)/.test(entry.name),
    )
    .map(({ name }) => name);
  expect([...modules].sort()).toEqual(folders.sort());
});

test('the table of modules has every module of the diagram', () => {
  for (const module of modules) expect(document).toContain(`[\`${module}/\`](../${module})`);
});
