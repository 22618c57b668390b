/** Reads the options of `fenceline replay`. Pure, except for reading the files that options name. */
import { readFileSync, statSync } from 'node:fs';
import { changeSettings } from '../../api/settings/fields.js';
import { isDictionary } from '../../http/fields/values.js';
import type { TimeRange } from '../../replay/partition.js';
import { fileProblem } from '../../schemas/file-problem.js';
import type { Environment } from '../../schemas/json/common.js';
import type { ProjectRecord, Settings } from '../../schemas/json/project.js';
import { limitText } from '../../schemas/wording.js';
import { CommandFailure, UsageError } from '../command.js';
import { type Format, formats } from './formats.js';
import { durationRule, momentRule, parseDuration, parseMoment } from './times.js';

type ReplayWords = {
  readonly [Name in 'from' | 'to' | 'warm-up' | 'environment' | 'format']?: string | undefined;
};

/** The validated times and enumerations. */
export interface ReplayRequest {
  readonly range: TimeRange;
  readonly warmUpMs: number | undefined;
  readonly environment: Environment;
  readonly format: Format;
}

const environments: readonly Environment[] = ['test', 'live'];

const maxFileBytes = 256 * 2 ** 20;

/**
 * Reads a request from the words of a command line. Without `--from` the range begins with the oldest stored location.
 */
export function readRequest(words: ReplayWords, nowMs: number, defaultFormat: Format): ReplayRequest {
  const range = { fromMs: moment('from', Number.NEGATIVE_INFINITY), toMs: moment('to', nowMs) };
  if (range.fromMs >= range.toMs) throw new UsageError('--from must be before --to');
  return {
    range,
    warmUpMs: warmUp(),
    environment: oneOf('environment', environments, 'live'),
    format: oneOf('format', formats, defaultFormat),
  };

  function moment(name: 'from' | 'to', otherwise: number): number {
    const text = words[name];
    const timeMs = text === undefined ? otherwise : parseMoment(text, nowMs);
    if (timeMs === undefined) throw new UsageError(`--${name} ${momentRule}`);
    return timeMs;
  }

  function warmUp(): number | undefined {
    const text = words['warm-up'];
    const durationMs = text === undefined ? undefined : parseDuration(text);
    if (text !== undefined && durationMs === undefined) throw new UsageError(`--warm-up ${durationRule}`);
    return durationMs;
  }

  function oneOf<Word extends string>(name: 'environment' | 'format', known: readonly Word[], otherwise: Word): Word {
    const word = words[name] === undefined ? otherwise : known.find((each) => each === words[name]);
    if (word === undefined) throw new UsageError(`--${name} must be one of ${known.join(', ')}`);
    return word;
  }
}

/** Returns the project with the id, or the only project if no id is given. */
export function projectOf(projects: readonly ProjectRecord[], id: string | undefined): ProjectRecord {
  const project = id === undefined && projects.length === 1 ? projects[0] : projects.find(({ _id }) => _id === id);
  if (project) return project;
  if (projects.length === 0) throw new CommandFailure('the data folder has no project yet');
  const known = projects.map(({ _id, name }) => `${_id} (${name})`).join(', ');
  throw new UsageError(`--project must be the id of a project: ${known}`);
}

/** Returns the text of the file that an option names. */
export function readGivenFile(option: string, path: string): string {
  try {
    const { size } = statSync(path);
    if (size > maxFileBytes) throw new Error(`it has ${size} bytes, more than ${limitText(maxFileBytes)}`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CommandFailure(`--${option} ${path}: ${fileProblem(error)}`);
  }
}

/** Returns the current settings with the changes in a file, which has the format of the body of `PUT /v1/settings`. */
export function readSettingsFile(path: string, current: Settings): Settings {
  const text = readGivenFile('settings', path);
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch (error) {
    throw new CommandFailure(`--settings ${path}: ${(error as Error).message}`);
  }
  if (!isDictionary(fields)) throw new CommandFailure(`--settings ${path}: must be a JSON object`);
  const merged = changeSettings(current, fields);
  if (!merged.ok) throw new CommandFailure(`--settings ${path}: ${merged.error.message}`);
  return merged.value;
}
