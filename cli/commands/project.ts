/** `fenceline project …`: talks to a running Fenceline over HTTP, as an administrator. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Project } from '../../schemas/json/project.js';
import { adminApiKeyFile } from '../../server/keys/admin-api-key.js';
import { type Command, CommandFailure, UsageError } from '../command.js';
import { configurationOptions, configurationOrExit } from './configuration.js';

const options = {
  ...configurationOptions,
  address: { type: 'string' },
  environment: { type: 'string' },
  kind: { type: 'string' },
} as const;

export const projectCommand: Command = {
  usage:
    'project create NAME | list | rotate-key ID --environment test|live --kind publishable|secret [--address URL] [--data DIR]',
  summary: 'Makes and lists projects and replaces their keys on the Fenceline that runs at the address.',
  async run(args) {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const administrator = administratorOf(values);
    const [action, subject] = positionals;
    if (action === 'list') return list(administrator);
    if (action === 'create' && subject) return create(administrator, subject);
    if (action === 'rotate-key' && subject) return rotate(administrator, subject, values.environment, values.kind);
    throw new UsageError('project takes create NAME, list, or rotate-key ID');
  },
};

interface Administrator {
  readonly address: string;
  readonly key: string;
}

/** The key comes from FENCELINE_ADMIN_API_KEY or, on the same machine, from the data folder. */
function administratorOf(values: { address?: string | undefined; data?: string | undefined }): Administrator {
  const { configuration } = configurationOrExit(values);
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

async function call<T>({ address, key }: Administrator, method: string, path: string, body?: object): Promise<T> {
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
    throw new CommandFailure(`what answers at ${address} is no Fenceline`);
  })) as T & { meta?: { message?: string } };
  if (!response.ok) throw new CommandFailure(answer.meta?.message ?? `${address} answered ${response.status}`);
  return answer;
}

async function create(administrator: Administrator, name: string): Promise<void> {
  const { project } = await call<{ project: Project }>(administrator, 'POST', '/v1/projects', { name });
  console.log(`${project._id}  ${project.name}`);
  for (const { environment, kind, key } of project.keys) console.log(`  ${environment} ${kind}`.padEnd(20), key);
  console.log('The keys are shown this once.');
}

async function list(administrator: Administrator): Promise<void> {
  const { projects } = await call<{ projects: Project[] }>(administrator, 'GET', '/v1/projects');
  for (const project of projects) {
    console.log(`${project._id}  ${project.name}`);
    for (const { environment, kind, hint } of project.keys) console.log(`  ${environment} ${kind}`.padEnd(20), hint);
  }
}

async function rotate(administrator: Administrator, id: string, environment?: string, kind?: string): Promise<void> {
  if (!environment || !kind) throw new UsageError('rotate-key needs --environment and --kind');
  const path = `/v1/projects/${encodeURIComponent(id)}/keys/rotate`;
  const { key } = await call<{ key: string }>(administrator, 'POST', path, { environment, kind });
  console.log(key);
  console.log('The key is shown this once; the one it replaces is refused from now on.');
}
