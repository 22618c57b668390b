/** The servers that commands call: a running Fenceline, or Radar. Each failure of a request is a CommandFailure. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPassingStatus, type Outcome, reasonOf, repeat, retryAfterMs } from '../client/attempts.js';
import { isHttpUrl } from '../server/config/http-url.js';
import { localAddress } from '../server/local-address.js';
import { CommandFailure, UsageError } from './command.js';

/** The server that a command calls, and the key that it gives. */
export interface Access {
  /** Without a slash at the end. */
  readonly address: string;
  readonly key: string;
  /** Radar's own API, or another one that answers like it. Default: Fenceline. */
  readonly isRadar?: true;
}

interface RequestOptions extends RequestInit {
  readonly headers?: Readonly<Record<string, string>>;
  /** Of a body that is a stream. */
  readonly duplex?: 'half';
  /** Time limit of each attempt, with its answer. Default: none, because files and streams may take long. */
  readonly timeoutMs?: number;
  /** How often a request that failed for a passing reason is sent again. Default 0. */
  readonly maxRetries?: number;
  /** All that it sends comes from the command line: a UsageError if the server finds it invalid. */
  readonly hasOnlyArguments?: true;
}

/** The server answered, and refused the request. */
export class Refusal extends CommandFailure {}

type Given<Name extends string> = Readonly<Partial<Record<Name, string | undefined>>>;

/** Reads the options --address and --key, or their variables. */
export async function accessOf(values: Given<'address' | 'key'>): Promise<Access> {
  const key = values.key ?? process.env.FENCELINE_KEY;
  if (!key) throw new UsageError('a secret key of Fenceline is required: --key or FENCELINE_KEY');
  return { address: givenAddress(values) ?? localAddress(await configurationOf({})), key };
}

/** Reads --address, and the admin API key from its variable or, on the same machine, from the data folder. */
export async function adminAccessOf(values: Given<'address' | 'config' | 'port' | 'host' | 'data'>): Promise<Access> {
  const configuration = await configurationOf(values);
  const address = givenAddress(values) ?? localAddress(configuration);
  const key = process.env.FENCELINE_ADMIN_API_KEY;
  if (key) return { address, key };
  const { adminApiKeyFile } = await import('../server/keys/admin-api-key.js');
  const file = join(configuration.data, adminApiKeyFile);
  try {
    return { address, key: readFileSync(file, 'utf8').trim() };
  } catch {
    throw new CommandFailure(`no admin API key: ${file} is not readable and FENCELINE_ADMIN_API_KEY is not set`);
  }
}

/** Loads the configuration only when it is needed. */
const configurationOf = async (values: Given<'config' | 'port' | 'host' | 'data'>) =>
  (await import('./configuration.js')).configurationFrom(values).configuration;

/** Returns the address that is named as a whole. Options come before the variable, as for settings. */
function givenAddress({ address, port, host }: Given<'address' | 'port' | 'host'>): string | undefined {
  const part = (port !== undefined && '--port') || (host !== undefined && '--host');
  if (address !== undefined && part) throw new UsageError(`--address and ${part} both name the server; give one`);
  if (address !== undefined) return checkedAddress('--address', address);
  if (part) return undefined;
  const variable = process.env.FENCELINE_ADDRESS;
  return variable ? checkedAddress('FENCELINE_ADDRESS', variable) : undefined;
}

/** Returns the address without a slash at its end. Throws a UsageError that names its option if it is no such URL. */
export function checkedAddress(option: string, given: string): string {
  if (!isHttpUrl(given)) throw new UsageError(`${option} must be a URL such as http://127.0.0.1:8080, not ${given}`);
  const { username, password, search, hash } = new URL(given);
  if (username || password || search || hash)
    throw new UsageError(`${option} must be a URL without user, password, query and fragment`);
  return given.replace(/\/+$/, '');
}

/** Every answer of Fenceline has it. */
const requestIdHeader = 'x-radar-request-id';

/** Visible characters of ASCII. */
const keyPattern = /^[\x21-\x7e]+$/;

/** Servers that have answered. An outage of another one does not pass: it does not run, or its address is wrong. */
const answered = new WeakSet<Access>();

/** Sends a request and resolves to its successful answer, whose body may be a stream. */
export async function request(
  access: Access,
  path: string,
  { maxRetries = 0, ...options }: RequestOptions = {},
): Promise<Response> {
  if (!keyPattern.test(access.key)) throw new UsageError('the key has characters that no key has; copy it again');
  return repeat(() => attempt(access, path, options), maxRetries);
}

async function attempt(access: Access, path: string, options: RequestOptions): Promise<Outcome<Response>> {
  const { timeoutMs, hasOnlyArguments, ...init } = options;
  const { address, key } = access;
  const headers = { ...init.headers, authorization: key };
  try {
    const signal = timeoutMs !== undefined && { signal: AbortSignal.timeout(timeoutMs) };
    // A followed redirect would turn POST into GET, and lose the key.
    const answer = await fetch(`${address}${path}`, { ...init, ...signal, headers, redirect: 'manual' });
    answered.add(access);
    const misdirected = misdirection(access, answer);
    if (misdirected !== undefined) {
      await answer.body?.cancel();
      return { ok: false, error: new CommandFailure(misdirected), isPassing: false, retryAfterMs: undefined };
    }
    if (answer.ok) return { ok: true, answer };
    const message = await messageOf(answer);
    const error = hasOnlyArguments && answer.status === 400 ? new UsageError(message) : new Refusal(message);
    return { ok: false, error, isPassing: isPassingStatus(answer.status), retryAfterMs: retryAfterMs(answer) };
  } catch (error) {
    return { ok: false, error: noAnswer(access, error), isPassing: answered.has(access), retryAfterMs: undefined };
  }
}

/** Returns why the answer comes from a wrong server; undefined if it does not. */
function misdirection({ address, isRadar }: Access, { ok, status, headers }: Response): string | undefined {
  if (status >= 300 && status < 400)
    return `${address} redirects to ${headers.get('location')}; use the address of the server itself`;
  const isOther = ok && isRadar !== true && !headers.has(requestIdHeader);
  return isOther ? `the server at ${address} is not Fenceline` : undefined;
}

/** Returns the server's own sentence. Radar has a code instead, and a proxy may have neither. */
async function messageOf(answer: Response): Promise<string> {
  const { meta } = (await answer.json().catch(() => ({}))) as { meta?: { message?: string; error?: string } };
  return meta?.message ?? `the server answered ${answer.status} ${meta?.error ?? ''}`.trim();
}

/** No server answered. */
export class NoAnswer extends CommandFailure {
  constructor(
    readonly address: string,
    /** For people. */
    readonly reason: string,
    option = '--address',
  ) {
    super(`nothing answers at ${address} (${reason}); is it running? ${option} names another address`);
  }
}

/** Returns the failure of a request that got no answer. Names the option for the address of that server. */
export const noAnswer = ({ address, isRadar }: Access, error: unknown): NoAnswer =>
  new NoAnswer(address, reasonOf(error), isRadar ? '--radar-address' : '--address');

/** Sends JSON, if any is given, and resolves to the JSON of the answer. */
export async function call<Answer>(
  access: Access,
  method: string,
  path: string,
  { json, ...options }: RequestOptions & { readonly json?: object } = {},
): Promise<Answer> {
  const body = json && { body: JSON.stringify(json), headers: { 'content-type': 'application/json' } };
  const answer = await request(access, path, { ...options, ...body, method });
  return answer.json().catch(() => {
    throw new CommandFailure(`the answer of ${access.address} is not JSON, or was cut off`);
  }) as Promise<Answer>;
}
