/** Creates projects and their keys, for the API and the command line. */
import { newKey } from '../../http/access/keys.js';
import type { ConfigurationWriter } from '../../pipeline/catalog/types.js';
import { freshId } from '../../schemas/ids.js';
import type { Environment } from '../../schemas/json/common.js';
import { defaultSettings, type KeyKind, type KeyRecord, type ProjectRecord } from '../../schemas/json/project.js';

/** A key in plain text and its stored record. Only this moment knows the plain text. */
export interface IssuedKey {
  readonly record: KeyRecord;
  readonly key: string;
}

/** Longest name of a project, in UTF-16 code units. */
export const maxProjectNameLength = 200;
/** The environments that every project has. */
export const environments = ['test', 'live'] as const satisfies readonly Environment[];
/** The kinds of keys that every environment has, one key each. */
export const keyKinds = ['publishable', 'secret'] as const satisfies readonly KeyKind[];

/** A project that is not stored yet, with its keys in plain text. */
export interface NewProject {
  readonly project: ProjectRecord;
  readonly keys: readonly IssuedKey[];
}

/** Makes a project with default settings and four keys, ordered test before live, publishable before secret. */
export function newProject(
  { name, plan }: Pick<ProjectRecord, 'name' | 'plan'>,
  nowMs: number,
  id = freshId(nowMs),
): NewProject {
  const keys = environments.flatMap((environment) => keyKinds.map((kind) => newKey(environment, kind, nowMs)));
  const project: ProjectRecord = {
    _id: id,
    name,
    createdAt: nowMs,
    updatedAt: nowMs,
    keys: keys.map(({ record }) => record),
    settings: { test: { ...defaultSettings }, live: { ...defaultSettings } },
    ...(plan !== undefined && { plan }),
  };
  return { project, keys };
}

/** Writes a new project. */
export async function createProject(
  writer: Pick<ConfigurationWriter, 'write' | 'nextTimestamp'>,
  input: Pick<ProjectRecord, 'name' | 'plan'>,
): Promise<NewProject> {
  const made = newProject(input, writer.nextTimestamp());
  await writer.write([{ kind: 'project', id: made.project._id, record: made.project, bases: ['absent'] }]);
  return made;
}

/** Replaces the project's key of that environment and kind. The old key is refused once the project is written. */
export function withNewKey(
  project: ProjectRecord,
  environment: Environment,
  kind: KeyKind,
  nowMs: number,
): { readonly project: ProjectRecord; readonly issued: IssuedKey } {
  const issued = newKey(environment, kind, nowMs);
  const others = project.keys.filter((key) => key.environment !== environment || key.kind !== kind);
  return { project: { ...project, updatedAt: nowMs, keys: [...others, issued.record] }, issued };
}
