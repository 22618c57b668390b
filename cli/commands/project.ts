/** `fenceline project`: manages the projects of a running Fenceline over HTTP, with the admin API key. */
import type { Project } from '../../schemas/json/project.js';
import { printable } from '../../server/terminal-text.js';
import { type Run, UsageError } from '../command.js';
import type { OptionsOf } from '../descriptions.js';
import { type Access, adminAccessOf, call } from '../server.js';

/** Creates or lists projects, or rotates a key, with the admin API key. */
export const run: Run<OptionsOf<'project'>> = async (values, words) => {
  const action = actionOf(values, words);
  if (action === undefined) throw new UsageError('project requires create NAME, list, or rotate-key ID');
  await action(await adminAccessOf(values));
};

type Values = Parameters<Run<OptionsOf<'project'>>>[0];

/** Returns the action that the words name; undefined if they have none of the command's forms. */
function actionOf(values: Values, [word, subject, ...rest]: readonly string[]) {
  if (rest.length > 0) return undefined;
  if (word === 'list' && subject === undefined) return list;
  if (word === 'create' && subject) return (admin: Access) => create(admin, subject);
  if (word === 'rotate-key' && subject) {
    const environment = oneOf(values, 'environment', ['test', 'live']);
    const kind = oneOf(values, 'kind', ['publishable', 'secret']);
    return (admin: Access) => rotate(admin, subject, environment, kind);
  }
  return undefined;
}

function oneOf(values: Values, option: 'environment' | 'kind', known: readonly string[]): string {
  const given = values[option];
  if (given !== undefined && known.includes(given)) return given;
  throw new UsageError(`rotate-key requires --${option}: ${known.join(' or ')}`);
}

async function create(admin: Access, name: string): Promise<void> {
  const { project } = await call<{ project: Project }>(admin, 'POST', '/v1/projects', {
    json: { name },
    hasOnlyArguments: true,
  });
  console.log(`${project._id}  ${printable(project.name)}`);
  for (const { environment, kind, key } of project.keys) console.log(`  ${environment} ${kind}`.padEnd(20), key);
  console.log('The keys are shown only this once.');
}

async function list(admin: Access): Promise<void> {
  let page = '';
  do {
    const path = `/v1/projects?limit=1000${page}`;
    const { meta, projects } = await call<{ meta: { cursor?: string }; projects: Project[] }>(admin, 'GET', path);
    for (const project of projects) {
      console.log(`${project._id}  ${printable(project.name)}`);
      for (const { environment, kind, hint } of project.keys) console.log(`  ${environment} ${kind}`.padEnd(20), hint);
    }
    page = meta.cursor === undefined ? '' : `&cursor=${meta.cursor}`;
  } while (page !== '');
}

async function rotate(admin: Access, id: string, environment: string, kind: string): Promise<void> {
  const path = `/v1/projects/${encodeURIComponent(id)}/keys/rotate`;
  const { key } = await call<{ key: string }>(admin, 'POST', path, { json: { environment, kind } });
  console.log(key);
  console.log('The key is shown only this once. The previous key is no longer accepted.');
}
