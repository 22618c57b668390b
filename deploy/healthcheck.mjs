// Exits with status 0 when Fenceline in this container is ready. Docker runs it every few seconds, so it imports only
// what starts fastest, and the reader of YAML only for a configuration file. The image has that reader in `dist` only,
// so this file is there too. It does not know the options of `serve`.
import { existsSync, readFileSync } from 'node:fs';
import { get } from 'node:http';

const timeoutMs = 3_000;
const { env } = process;
const file = env.FENCELINE_CONFIG || (existsSync('fenceline.yaml') ? 'fenceline.yaml' : undefined);
const settings = file === undefined ? {} : ((await import('yaml')).parse(readFileSync(file, 'utf8')) ?? {});
const host = env.FENCELINE_HOST || settings.host || '127.0.0.1';
const port = env.FENCELINE_PORT || settings.port || 8080;
const isEverywhere = host === '0.0.0.0' || host === '::';

get({ host: isEverywhere ? '127.0.0.1' : host, port, path: '/health/ready', timeout: timeoutMs })
  .on('response', ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1));
