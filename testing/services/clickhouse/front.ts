/**
 * Replaces a ClickHouse server where none is available: the HTTP interface that the official client uses, in front of
 * the chDB engine in this process. The client, HTTP, the engine and its SQL are real.
 *
 * `node front.js SETTINGS.json`. Answers are sent whole, as a server sends them with wait_end_of_query. Access rights,
 * sessions and quotas are left out.
 */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { gzipSync } from 'node:zlib';
import { type Engine, startEngine } from './front-engine.js';
import { type Login, loginOf, readRequest } from './front-request.js';
import { createSharding, type ShardedCluster } from './front-sharding.js';

/** The settings of a front, which its process reads from a file. */
export interface FrontSettings {
  readonly host: string;
  readonly port: number;
  /** Data folder. */
  readonly folder: string;
  /** Nobody else gets in. */
  readonly login?: Login;
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly cluster?: ShardedCluster;
  /** How long an idle connection is kept. */
  readonly keepAliveMs: number;
}

/** Statuses of exceptions by their codes, as the server has them; 500 is that of all others. */
const statuses: Readonly<Record<string, number>> = {
  516: 403,
  192: 403,
  497: 403,
  62: 400,
  47: 404,
  60: 404,
  81: 404,
  115: 404,
  159: 408,
};

async function main(): Promise<void> {
  const settings = JSON.parse(readFileSync(process.argv[2] as string, 'utf8')) as FrontSettings;
  const sharding = settings.cluster && createSharding(settings.cluster, `${settings.folder}.xml`);
  const engine = await startEngine(settings.folder, sharding);
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void answer(engine, settings.login, request, response);
  const server = settings.tls ? createTlsServer(settings.tls, listener) : createServer(listener);
  server.keepAliveTimeout = settings.keepAliveMs;
  server.listen(settings.port, settings.host, () => console.log(`ready ${settings.port}`));
}

async function answer(
  engine: Engine,
  login: Login | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/ping') return void response.end('Ok.\n');
  if (pathname !== '/') return void response.writeHead(404).end(`There is no handle ${pathname}\n`);
  try {
    if (login) demand(login, loginOf(request));
    const statement = await readRequest(request);
    const isCancelled = /\bcancel_http_readonly_queries_on_client_close=1\b/.test(request.url ?? '');
    const { bytes, rowsRead } = await engine.run(statement, isCancelled ? closed(response) : undefined);
    response.setHeader('X-ClickHouse-Query-Id', statement.queryId);
    response.setHeader('X-ClickHouse-Summary', JSON.stringify({ read_rows: `${rowsRead}` }));
    const isCompressed =
      /\benable_http_compression=1\b/.test(request.url ?? '') && request.headers['accept-encoding'] === 'gzip';
    if (isCompressed) response.setHeader('Content-Encoding', 'gzip');
    response.end(isCompressed ? gzipSync(bytes, { level: 3 }) : bytes);
  } catch (error) {
    refuse(response, error, engine.version);
  }
}

/** Returns a signal that aborts when the client closes its connection. */
function closed(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => controller.abort());
  return controller.signal;
}

function demand(expected: Login, { username, password }: Login): void {
  if (username === expected.username && password === expected.password) return;
  const reason = 'Authentication failed: password is incorrect, or there is no user with such name.';
  throw new Error(`Code: 516. DB::Exception: ${username}: ${reason} (AUTHENTICATION_FAILED)`);
}

function refuse(response: ServerResponse, error: unknown, version: string): void {
  const message = error instanceof Error ? error.message : String(error);
  const [, code] = /^Code: (\d+)\./.exec(message) ?? [];
  const text = code === undefined ? `Code: 1001. DB::Exception: ${message} (STD_EXCEPTION)` : message;
  response.setHeader('X-ClickHouse-Exception-Code', code ?? '1001');
  response.writeHead(statuses[code ?? ''] ?? 500).end(`${text} (version ${version})\n`);
}

await main();
