/** Making projects and their keys: what the API and the command line share. */

import { newKey } from '../../http/keys.js';
import type { ConfigurationWriter } from '../../pipeline/catalog/types.js';
import { freshId } from '../../schemas/ids.js';
import type { Environment } from '../../schemas/json/common.js';
import { defaultSettings, type KeyKind, type KeyRecord, type ProjectRecord } from '../../schemas/json/project.js';

/** A key in clear, with what is kept of it. It is known only now: nothing can show it again. */
export interface IssuedKey {
  readonly record: KeyRecord;
  readonly key: string;
}

export const maxProjectNameLength = 200;
export const environments = ['test', 'live'] as const satisfies readonly Environment[];
export const keyKinds = ['publishable', 'secret'] as const satisfies readonly KeyKind[];

/** Writes a new project with default settings and its four keys, in the order test before live, publishable before secret. */
export async function createProject(
  writer: ConfigurationWriter,
  name: string,
): Promise<{ readonly project: ProjectRecord; readonly keys: readonly IssuedKey[] }> {
  const nowMs = writer.nextTimestamp();
  const keys = environments.flatMap((environment) => keyKinds.map((kind) => newKey(environment, kind, nowMs)));
  const project: ProjectRecord = {
    _id: freshId(nowMs),
    name,
    createdAt: nowMs,
    updatedAt: nowMs,
    keys: keys.map(({ record }) => record),
    settings: { test: { ...defaultSettings }, live: { ...defaultSettings } },
  };
  await writer.write([{ kind: 'project', id: project._id, record: project }]);
  return { project, keys };
}

/** Puts a new key in the place of the project's key of that environment and kind. The old one is refused from then on. */
export async function rotateKey(
  writer: ConfigurationWriter,
  project: ProjectRecord,
  environment: Environment,
  kind: KeyKind,
): Promise<{ readonly project: ProjectRecord; readonly issued: IssuedKey }> {
  const nowMs = writer.nextTimestamp();
  const issued = newKey(environment, kind, nowMs);
  const others = project.keys.filter((key) => key.environment !== environment || key.kind !== kind);
  const rotated = { ...project, updatedAt: nowMs, keys: [...others, issued.record] };
  await writer.write([{ kind: 'project', id: project._id, record: rotated }]);
  return { project: rotated, issued };
}
