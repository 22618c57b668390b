/**
 * Parses a request to ClickHouse's HTTP interface into the statement, its data, the user and the parameters.
 *
 * As in the server, the statement is the parameter `query` followed by the body. The rest after an INSERT with a format
 * is its data. In multipart forms, statement and bound values are parts.
 */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createBrotliDecompress, createGunzip } from 'node:zlib';

/** A parsed request. */
export interface FrontRequest {
  readonly queryId: string;
  readonly database: string | undefined;
  readonly sql: string;
  /** The rows of an INSERT. */
  readonly data: { readonly format: string; readonly stream: Readable } | undefined;
  readonly settings: ReadonlyMap<string, string>;
  /** Bound values, with the escapes of tab-separated text. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** The only user whom the front lets in. */
export interface Login {
  readonly username: string;
  readonly password: string;
}

/** Read by the HTTP interface itself, and not settings of the engine. */
const ofTheInterface = new Set([
  ...[
    'query',
    'query_id',
    'database',
    'user',
    'password',
    'role',
    'session_id',
    'compress',
    'decompress',
    'default_format',
  ],
  ...['wait_end_of_query', 'buffer_size', 'send_progress_in_http_headers', 'http_headers_progress_interval_ms'],
  ...['enable_http_compression', 'http_response_buffer_size', 'cancel_http_readonly_queries_on_client_close'],
]);

const insertPattern = /^(?<statement>\s*INSERT\s[\s\S]*?)\sFORMAT\s+(?<format>\w+)\s*$/i;

/** Reads query, parameters and body, as ClickHouse takes them from the address, from forms and from the body. */
export async function readRequest(request: IncomingMessage): Promise<FrontRequest> {
  const address = new URL(request.url ?? '/', 'http://localhost').searchParams;
  const fields = [...address, ...(isForm(request) ? await formFields(request) : [])];
  const field = (name: string): string | undefined => fields.find(([key]) => key === name)?.[1];
  const query = field('query') ?? '';
  const insert = insertPattern.exec(query)?.groups;
  const stream = decompressed(request);
  const isStreamed = insert !== undefined && !isForm(request);
  const rest = isStreamed || isForm(request) ? '' : (await buffer(stream)).toString('utf8');
  return {
    queryId: field('query_id') ?? crypto.randomUUID(),
    database: field('database'),
    sql: isStreamed ? insert.statement! : `${query}${query && rest && '\n'}${rest}`,
    data: isStreamed ? { format: insert.format!, stream } : undefined,
    settings: new Map(fields.filter(([name]) => !ofTheInterface.has(name) && !name.startsWith('param_'))),
    parameters: new Map(fields.filter(([name]) => name.startsWith('param_'))),
  };
}

const isForm = ({ headers }: IncomingMessage): boolean =>
  headers['content-type']?.startsWith('multipart/form-data') ?? false;

async function formFields(request: IncomingMessage): Promise<[string, string][]> {
  const contentType = request.headers['content-type'] as string;
  const form = await new Response(await buffer(request), { headers: { 'content-type': contentType } }).formData();
  return [...form].map(([name, value]) => [name, String(value)]);
}

function decompressed(request: IncomingMessage): Readable {
  const encoding = request.headers['content-encoding'];
  if (encoding === 'gzip') return request.pipe(createGunzip());
  if (encoding === 'br') return request.pipe(createBrotliDecompress());
  return request;
}

/** Reads the login from whichever of the headers a client may use for it. */
export function loginOf({ headers }: IncomingMessage): Login {
  const [, basic] = /^Basic (\S+)$/.exec(headers.authorization ?? '') ?? [];
  if (basic === undefined) {
    return {
      username: String(headers['x-clickhouse-user'] ?? 'default'),
      password: String(headers['x-clickhouse-key'] ?? ''),
    };
  }
  const [username = '', ...password] = Buffer.from(basic, 'base64').toString('utf8').split(':');
  return { username, password: password.join(':') };
}
