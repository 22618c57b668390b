/**
 * Loads the configuration from flags, environment, file and defaults, and records the source of each value.
 *
 * Unknown settings and invalid values are errors, so typos don't go unnoticed. All problems are listed at once.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { YAMLError } from 'yaml';
import { nearestName } from '../../http/fields/spelling.js';
import { isDictionary } from '../../http/fields/values.js';
import { fileProblem } from '../../schemas/file-problem.js';
import type { Configuration, SettingValue } from './schema.js';
import { readSetting, type Setting, settings } from './settings.js';

/** A setting of this process and where its value comes from, for `fenceline config`. */
export interface LoadedSetting {
  readonly setting: Setting;
  readonly value: SettingValue;
  /** Where the value comes from: `default`, `--port`, `FENCELINE_PORT`, or the name of the file. */
  readonly source: string;
}

/** The configuration with the source of each value, or every problem with its key. */
export type Loaded =
  | { readonly ok: true; readonly configuration: Configuration; readonly settings: readonly LoadedSetting[] }
  | { readonly ok: false; readonly problems: readonly string[] };

interface Sources {
  /** By dotted key. */
  readonly flags: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Path given by `--config` or `FENCELINE_CONFIG`, which must exist. Default: `fenceline.yaml`, if it exists. */
  readonly file?: string;
}

const defaultFile = 'fenceline.yaml';

/** Secrets that are no settings, because a file must not have them: what each must match, and the rule. */
const secrets = {
  FENCELINE_ADMIN_API_KEY: [/^[\x21-\x7e]+$/, 'must be visible characters of ASCII, without spaces and line breaks'],
  FENCELINE_ENCRYPTION_KEY: [/^[0-9a-f]{64}$/i, 'must be 64 hex digits'],
} as const;

/** The environment variables of Fenceline: secrets, options of commands, and one for each setting. */
const variables = [
  'FENCELINE_CONFIG',
  'FENCELINE_ADDRESS',
  'FENCELINE_KEY',
  ...Object.keys(secrets),
  ...settings.map(({ variable }) => variable),
];
const keys = settings.map(({ key }) => key);
const sections = new Set(keys.flatMap((key) => (key.includes('.') ? [key.slice(0, key.lastIndexOf('.'))] : [])));

/** Former names of variables and keys. They are refused, because ignoring them would silently restore defaults. */
const renamed = new Map<string, string>([
  ['FENCELINE_ADMINISTRATOR_KEY', 'FENCELINE_ADMIN_API_KEY'],
  ['FENCELINE_SEALING_KEY', 'FENCELINE_ENCRYPTION_KEY'],
  ['FENCELINE_EXPIRY_KEEP_DAYS', 'FENCELINE_EXPIRY_RETENTION_DAYS'],
  ['FENCELINE_WEBHOOKS_KEEP_WAITING_DAYS', 'FENCELINE_WEBHOOKS_DELIVERY_RETENTION_DAYS'],
  ['expiry.keepDays', 'expiry.retentionDays'],
  ['webhooks.keepWaitingDays', 'webhooks.deliveryRetentionDays'],
]);

/** Returns what is wrong with an unknown name, and its new or its nearest name. */
function unknown(kind: string, name: string, known: readonly string[]): string {
  const newName = renamed.get(name);
  if (newName !== undefined) return `was renamed: use ${newName}`;
  const suggestion = nearestName(name, known);
  return `is not ${kind}${suggestion === undefined ? '' : `; did you mean ${suggestion}?`}`;
}

/** Returns the frozen configuration with the source of each value, or all problems. */
export function loadConfiguration(sources: Sources): Loaded {
  const problems: string[] = [];
  const fileName =
    sources.file ?? (sources.environment.FENCELINE_CONFIG || (existsSync(defaultFile) ? defaultFile : undefined));
  const fromFile = fileName === undefined ? new Map<string, unknown>() : readFile(fileName, problems);

  for (const variable of Object.keys(sources.environment)) {
    if (variable.startsWith('FENCELINE_') && !variables.includes(variable)) {
      problems.push(`${variable}: ${unknown('an environment variable of Fenceline', variable, variables)}`);
    }
  }
  for (const [variable, [pattern, rule]] of Object.entries(secrets)) {
    const given = sources.environment[variable];
    if (given && !pattern.test(given)) problems.push(`${variable}: ${rule}`);
  }
  const loaded = settings.map((setting): LoadedSetting => {
    const { given, source } = strongest(setting, sources, fromFile, fileName);
    if (given === undefined) return { setting, value: setting.schema.default, source: 'default' };
    const read = readSetting(setting, given);
    if (!read.ok) problems.push(`${setting.key} (${source}): ${read.rule}`);
    return { setting, value: read.ok ? read.value : setting.schema.default, source };
  });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, configuration: nest(loaded), settings: loaded };
}

/** Returns the value of the source with the highest precedence. */
function strongest(setting: Setting, sources: Sources, fromFile: Map<string, unknown>, fileName: string | undefined) {
  const flag = sources.flags[setting.key];
  if (flag !== undefined) return { given: flag, source: `--${setting.key}` };
  const variable = sources.environment[setting.variable];
  if (variable !== undefined && variable !== '') return { given: variable, source: setting.variable };
  return { given: fromFile.get(setting.key), source: fileName ?? 'default' };
}

function readFile(fileName: string, problems: string[]): Map<string, unknown> {
  const values = new Map<string, unknown>();
  // Loaded only now: most commands run without a file.
  const { parseDocument } = createRequire(import.meta.url)('yaml') as typeof import('yaml');
  let document: unknown;
  try {
    const text = readFileSync(fileName, 'utf8');
    const parsed = parseDocument(text);
    const [fault] = [...parsed.errors, ...parsed.warnings];
    if (fault !== undefined) {
      problems.push(faultOf(fault, text, fileName));
      return values;
    }
    document = parsed.toJS() ?? {};
  } catch (error) {
    problems.push(`${fileName}: ${fileProblem(error)}`);
    return values;
  }
  if (!isDictionary(document)) {
    problems.push(`${fileName}: must be YAML with one setting per line, such as "port: 8080"`);
    return values;
  }
  for (const [key, value] of leavesOf(document)) {
    if (values.has(key)) problems.push(`${key} (${fileName}): is given twice`);
    else if (keys.includes(key)) values.set(key, value);
    else if (sections.has(key)) problems.push(`${key} (${fileName}): ${noSection(key)}`);
    else problems.push(`${key} (${fileName}): ${unknown('a setting of Fenceline', key, [...keys, ...sections])}`);
  }
  return values;
}

/** Returns what is wrong with a text that is no YAML. The library shows lines of the file, which may have secrets. */
function faultOf({ code, message, pos: [at], linePos }: YAMLError, text: string, fileName: string): string {
  const [key] = /^[^\s:]+/.exec(text.slice(at)) ?? [];
  if (code === 'DUPLICATE_KEY') return `${key} (${fileName}, line ${linePos?.[0].line}): is given twice`;
  if (code === 'MULTIPLE_DOCS') return `${fileName}: must be one YAML document, without a line --- between settings`;
  return `${fileName}: ${message.split(':\n')[0]}`;
}

const noSection = (section: string): string =>
  `is a section: its settings follow in indented lines, such as ${keys.find((key) => key.startsWith(`${section}.`))}`;

/**
 * Yields the values below a section by their dotted keys. A section without settings has none. What is in the place of
 * a section is yielded as it is.
 */
function* leavesOf(
  section: Readonly<Record<string, unknown>>,
  prefix = '',
): Generator<readonly [key: string, value: unknown]> {
  for (const [name, value] of Object.entries(section)) {
    const key = `${prefix}${name}`;
    const isSection = sections.has(key);
    if (isSection && isDictionary(value)) yield* leavesOf(value, `${key}.`);
    else if (!isSection || value !== null) yield [key, value];
  }
}

function nest(settings: readonly LoadedSetting[]): Configuration {
  const root: Record<string, unknown> = {};
  for (const { setting, value } of settings) {
    const path = setting.key.split('.');
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
