/** `fenceline project`: manages the projects of a running Fenceline over HTTP, with the admin API key. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Project } from '../../schemas/json/project.js';
import { adminApiKeyFile } from '../../server/keys/admin-api-key.js';
import { CommandFailure, type Run, UsageError, type Values } from '../command.js';
import type { OptionsOf } from '../descriptions.js';
import { configurationFrom } from './configuration.js';

export const run: Run<OptionsOf<'project'>> = async (values, [action, subject]) => {
  const admin = adminAccess(values);
  if (action === 'list') return list(admin);
  if (action === 'create' && subject) return create(admin, subject);
  if (action === 'rotate-key' && subject) return rotate(admin, subject, values.environment, values.kind);
  throw new UsageError('project requires create NAME, list, or rotate-key ID');
};

interface AdminAccess {
  readonly address: string;
  readonly key: string;
}

/** Reads the key from FENCELINE_ADMIN_API_KEY or, on the same machine, from the data folder. */
function adminAccess(values: Values<OptionsOf<'project'>>): AdminAccess {
  const { configuration } = configurationFrom(values);
  const address = values.address ?? process.env.FENCELINE_ADDRESS ?? `http://127.0.0.1:${configuration.port}`;
  const given = process.env.FENCELINE_ADMIN_API_KEY;
  if (given) return { address, key: given };
  const file = join(configuration.data, adminApiKeyFile);
  try {
    return { address, key: readFileSync(file, 'utf8').trim() };
  } catch {
    throw new CommandFailure(`no admin API key: ${file} is not readable and FENCELINE_ADMIN_API_KEY is not set`);
  }
}

async function call<T>({ address, key }: AdminAccess, method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${address}${path}`, {
    method,
    headers: { authorization: key, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  }).catch((error: Error) => {
    throw new CommandFailure(
      `nothing answers at ${address} (${(error.cause as Error | undefined)?.message ?? error.message}); is it running?`,
    );
  });
  const answer = (await response.json().catch(() => {
    throw new CommandFailure(`the server at ${address} is not Fenceline`);
  })) as T & { meta?: { message?: string } };
  if (!response.ok) throw new CommandFailure(answer.meta?.message ?? `${address} answered ${response.status}`);
  return answer;
}

async function create(admin: AdminAccess, name: string): Promise<void> {
  const { project } = await call<{ project: Project }>(admin, 'POST', '/v1/projects', { name });
  console.log(`${project._id}  ${project.name}`);
  for (const { environment, kind, key } of project.keys) console.log(`  ${environment} ${kind}`.padEnd(20), key);
  console.log('The keys are shown only this once.');
}

async function list(admin: AdminAccess): Promise<void> {
  let page = '';
  do {
    const path = `/v1/projects?limit=1000${page}`;
    const { meta, projects } = await call<{ meta: { cursor?: string }; projects: Project[] }>(admin, 'GET', path);
    for (const project of projects) {
      console.log(`${project._id}  ${project.name}`);
      for (const { environment, kind, hint } of project.keys) console.log(`  ${environment} ${kind}`.padEnd(20), hint);
    }
    page = meta.cursor === undefined ? '' : `&cursor=${meta.cursor}`;
  } while (page !== '');
}

async function rotate(admin: AdminAccess, id: string, environment?: string, kind?: string): Promise<void> {
  if (!environment || !kind) throw new UsageError('rotate-key needs --environment and --kind');
  const path = `/v1/projects/${encodeURIComponent(id)}/keys/rotate`;
  const { key } = await call<{ key: string }>(admin, 'POST', path, { environment, kind });
  console.log(key);
  console.log('The key is shown only this once. The previous key is no longer accepted.');
}
