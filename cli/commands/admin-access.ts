/** Calls a running Fenceline with the admin API key. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { adminApiKeyFile } from '../../server/keys/admin-api-key.js';
import { CommandFailure } from '../command.js';
import { configurationFrom } from './configuration.js';

type Given = Parameters<typeof configurationFrom>[0] & { readonly address?: string | undefined };

export interface AdminAccess {
  readonly address: string;
  readonly key: string;
}

/** Reads the key from FENCELINE_ADMIN_API_KEY or, on the same machine, from the data folder. */
export function adminAccess(values: Given): AdminAccess {
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

/** Sends a request and returns the body of its answer. Throws a CommandFailure when it is refused. */
export async function call<T>({ address, key }: AdminAccess, method: string, path: string, body?: object): Promise<T> {
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
