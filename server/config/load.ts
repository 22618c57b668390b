/**
 * Puts the configuration together from flags, environment, file and defaults, and remembers where each value came from.
 *
 * Unknown keys and variables, and values that break their rule, refuse to start: every problem is listed at once.
 */
import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Configuration } from './schema.js';
import { type Knob, type KnobValue, knobs, readKnob } from './settings.js';

/** Where a value came from, for people: `default`, `--port`, `FENCELINE_PORT`, or the file's name. */
export interface Setting {
  readonly knob: Knob;
  readonly value: KnobValue;
  readonly source: string;
}

export type Loaded =
  | { readonly ok: true; readonly configuration: Configuration; readonly settings: readonly Setting[] }
  | { readonly ok: false; readonly problems: readonly string[] };

export interface Sources {
  /** By dotted key. */
  readonly flags: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Path given by `--config` or `FENCELINE_CONFIG`; must exist then. Otherwise `fenceline.yaml`, if there is one. */
  readonly file?: string;
}

const defaultFile = 'fenceline.yaml';

/** Variables that start with FENCELINE_ and are no knobs. */
const otherVariables = new Set([
  'FENCELINE_CONFIG',
  'FENCELINE_ADDRESS',
  'FENCELINE_ADMIN_API_KEY',
  'FENCELINE_ENCRYPTION_KEY',
  'FENCELINE_KEY',
]);

export function loadConfiguration(sources: Sources): Loaded {
  const problems: string[] = [];
  const fileName =
    sources.file ?? sources.environment.FENCELINE_CONFIG ?? (existsSync(defaultFile) ? defaultFile : undefined);
  const fromFile = fileName === undefined ? new Map<string, unknown>() : readFile(fileName, problems);

  for (const variable of Object.keys(sources.environment)) {
    if (
      variable.startsWith('FENCELINE_') &&
      !otherVariables.has(variable) &&
      !knobs.some((knob) => knob.variable === variable)
    ) {
      problems.push(`${variable}: is not a variable of Fenceline`);
    }
  }
  const settings = knobs.map((knob): Setting => {
    const { given, source } = strongest(knob, sources, fromFile, fileName);
    if (given === undefined) return { knob, value: knob.schema.default, source: 'default' };
    const read = readKnob(knob, given);
    if (!read.ok) problems.push(`${knob.key} (${source}): ${read.rule}`);
    return { knob, value: read.ok ? read.value : knob.schema.default, source };
  });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, configuration: nest(settings), settings };
}

function strongest(knob: Knob, sources: Sources, fromFile: Map<string, unknown>, fileName: string | undefined) {
  const flag = sources.flags[knob.key];
  if (flag !== undefined) return { given: flag, source: `--${knob.key}` };
  const variable = sources.environment[knob.variable];
  if (variable !== undefined && variable !== '') return { given: variable, source: knob.variable };
  return { given: fromFile.get(knob.key), source: fileName ?? 'default' };
}

function readFile(fileName: string, problems: string[]): Map<string, unknown> {
  const values = new Map<string, unknown>();
  let document: unknown;
  try {
    document = parse(readFileSync(fileName, 'utf8')) ?? {};
  } catch (error) {
    problems.push(`${fileName}: ${(error as Error).message}`);
    return values;
  }
  collect(document, '', values);
  for (const key of values.keys()) {
    if (!knobs.some((knob) => knob.key === key))
      problems.push(`${key} (${fileName}): is not a key of the configuration`);
  }
  return values;
}

function collect(node: unknown, prefix: string, values: Map<string, unknown>): void {
  if (typeof node !== 'object' || node === null || Array.isArray(node)) {
    values.set(prefix, node);
    return;
  }
  for (const [name, child] of Object.entries(node)) collect(child, prefix ? `${prefix}.${name}` : name, values);
}

function nest(settings: readonly Setting[]): Configuration {
  const root: Record<string, unknown> = {};
  for (const { knob, value } of settings) {
    const path = knob.key.split('.');
    const leaf = path.pop() as string;
    let node = root;
    for (const name of path) {
      node[name] ??= {};
      node = node[name] as Record<string, unknown>;
    }
    node[leaf] = value;
  }
  return deepFreeze(root) as Configuration;
}

function deepFreeze(node: Record<string, unknown>): Record<string, unknown> {
  for (const child of Object.values(node)) {
    if (typeof child === 'object' && child !== null) deepFreeze(child as Record<string, unknown>);
  }
  return Object.freeze(node);
}
