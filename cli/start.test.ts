/**
 * Guards the start time of commands by what they import statically: each package in these lists takes 25 to 150 ms to
 * load. Times themselves depend on the machine.
 */
import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const importPattern = /^(?:import|export)\s+(?!type\b)(?:[^;'"]*?\bfrom\s+)?'([^']+)'/gm;

interface Graph {
  readonly files: ReadonlySet<string>;
  /** Modules of Node. */
  readonly builtins: ReadonlySet<string>;
  readonly packages: ReadonlySet<string>;
}

/** Follows static imports. Imports of types alone disappear in the build. */
function graphOf(...entries: readonly string[]): Graph {
  const files = new Set<string>();
  const packages = new Set<string>();
  const builtins = new Set<string>();
  const pending = entries.map((entry) => join(root, entry));
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(importPattern)) {
      if (name.startsWith('.')) pending.push(join(file, '..', name.replace(/\.js$/, '.ts')));
      else if (name.startsWith('node:') || builtinModules.includes(name)) builtins.add(name);
      else packages.add(name);
    }
  }
  return { files: new Set([...files].map((file) => relative(root, file))), packages, builtins };
}

describe('the start of a command', () => {
  test('loads no package and few files for help and version', () => {
    const { files, packages } = graphOf('cli/main.ts');
    expect([...packages]).toEqual([]);
    expect(files.size).toBeLessThanOrEqual(10);
    expect(files).toContain('cli/descriptions.ts');
  });

  test('loads no package for tail', () => {
    expect([...graphOf('cli/main.ts', 'cli/commands/tail.ts').packages]).toEqual([]);
  });

  test('loads only packages that draw for map', () => {
    const { packages } = graphOf('cli/main.ts', 'cli/commands/map.ts', 'renderer/map.ts');
    expect(packages).toContain('@napi-rs/canvas');
    const heavy = ['typebox', 'undici', 'sharp', 'node-sqlite3-wasm', 'fastify', 'pino', 'lmdb', 'chdb', 'kafkajs'];
    for (const name of heavy) expect(packages).not.toContain(name);
  });

  test('would be noticed if it grew: serve loads what the others must not', () => {
    const { packages } = graphOf('server/embedded-node.ts');
    for (const name of ['lmdb', 'fastify', 'prom-client']) expect(packages).toContain(name);
  });

  test('loads neither mails, RPC of Avro, nor the copy of undici in Node for an embedded node', () => {
    const { packages, builtins } = graphOf('cli/commands/serve.ts', 'server/embedded-node.ts');
    for (const name of ['nodemailer/lib/mail-composer', 'nodemailer/lib/smtp-connection', 'avsc', 'chdb'])
      expect(packages).not.toContain(name);
    // http/reason-phrase.ts says why.
    expect(builtins).not.toContain('node:http');
    expect(builtins).toContain('node:net');
  });

  test.each(['server/embedded-node.ts', 'server/cluster-node.ts'])('loads nothing that draws for %s', (node) => {
    const { packages } = graphOf(node);
    for (const name of ['@napi-rs/canvas', 'sharp']) expect(packages).not.toContain(name);
  });
});
