/** Loads the configuration for the commands that need one. */
import { type Loaded, loadConfiguration } from '../server/config/load.js';
import { UsageError } from './command.js';

interface Given {
  readonly config?: string | undefined;
  readonly port?: string | undefined;
  readonly host?: string | undefined;
  readonly data?: string | undefined;
}

/** Throws a UsageError that lists every problem of the configuration. */
export function configurationFrom({ config, port, host, data }: Given): Extract<Loaded, { ok: true }> {
  const loaded = loadConfiguration({
    flags: { ...(port && { port }), ...(host && { host }), ...(data && { data }) },
    environment: process.env,
    ...(config !== undefined && { file: config }),
  });
  if (loaded.ok) return loaded;
  throw new UsageError(`invalid configuration: ${loaded.problems.join('; ')}`);
}
