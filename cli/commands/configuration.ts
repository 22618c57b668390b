/** The options that lead to a configuration, shared by the commands that need one. */
import { type Loaded, loadConfiguration } from '../config/load.js';

export const configurationOptions = {
  config: { type: 'string' },
  port: { type: 'string' },
  host: { type: 'string' },
  data: { type: 'string' },
} as const;

type Values = { readonly [name in keyof typeof configurationOptions]?: string | undefined };

/** The configuration; where it is wrong, every problem is told and the process ends with status 2. */
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
  console.error(`fenceline: the configuration is not right\n${loaded.problems.map((problem) => `  ${problem}`).join('\n')}`);
  process.exit(2);
}
