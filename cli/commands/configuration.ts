/** The options that lead to a configuration, shared by the commands that need one. */

import { type Loaded, loadConfiguration } from '../../server/config/load.js';
import { UsageError } from '../command.js';

export const configurationOptions = {
  config: { type: 'string' },
  port: { type: 'string' },
  host: { type: 'string' },
  data: { type: 'string' },
} as const;

type Values = { readonly [name in keyof typeof configurationOptions]?: string | undefined };

/** The configuration. Throws a UsageError that tells every problem where it is wrong. */
export function configurationOrExit({ config, ...given }: Values): Extract<Loaded, { ok: true }> {
  const flags = Object.fromEntries(Object.entries(given).filter(([, value]) => typeof value === 'string')) as Record<
    string,
    string
  >;
  const { port, host, data } = flags;
  const loaded = loadConfiguration({
    flags: { ...(port && { port }), ...(host && { host }), ...(data && { data }) },
    environment: process.env,
    ...(config !== undefined && { file: config }),
  });
  if (loaded.ok) return loaded;
  throw new UsageError(`the configuration is not right: ${loaded.problems.join('; ')}`);
}
