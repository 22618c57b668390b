/**
 * A client of schema registries with Confluent's API. It does not retry. {@link isRefusal} tells errors that may pass
 * from those that won't; messages contain no secrets.
 */
import { Agent, request } from 'undici';
import type { RegistryOptions } from '../options.js';

const defaultRequestTimeoutMs = 5_000;
const maxResponseBytes = 1 << 20;
const mediaType = 'application/vnd.schemaregistry.v1+json';

const compatibility = 'BACKWARD_TRANSITIVE';
/** A stricter level is accepted too. */
const stricter = 'FULL_TRANSITIVE';
/** Error code of a 404 from a registry that has no such schema. */
const noSuchSchema = 40_403;

/** The registry does not answer, or can't at the moment. */
class RegistryUnavailable extends Error {
  override readonly name = 'RegistryUnavailable';
}

/** Returns whether another attempt would fail as well. */
export const isRefusal = (error: unknown): boolean => !(error instanceof RegistryUnavailable);

/** The requests to a registry. Each makes one attempt, and rejects when the registry refuses or is out of reach. */
export interface RegistryClient {
  /** Requires that new versions of the subject can read what all earlier ones wrote. */
  requireCompatibility(subject: string): Promise<void>;
  /** Returns the schema's id: a new one, or the one that it has. */
  register(subject: string, schema: string): Promise<number>;
  /** Returns the schema of the id, or undefined if there is none. */
  schemaOf(id: number): Promise<string | undefined>;
}

/** Calls `onProblem` once per outage, when it begins. */
export function createRegistryClient(
  options: RegistryOptions,
  onProblem: (problem: string) => void,
  { requestTimeoutMs = defaultRequestTimeoutMs } = {},
): RegistryClient {
  const send = createSender(options, requestTimeoutMs);
  let isAway = false;
  const call: Sender = async (...message) => {
    try {
      const answer = await send(...message);
      isAway = false;
      return answer;
    } catch (error) {
      if (!isAway && !isRefusal(error)) onProblem((error as Error).message);
      isAway = !isRefusal(error);
      throw error;
    }
  };
  const refused = ({ status, body }: Answer, what: string): Error =>
    new Error(`${nameOf(options)} answered ${status} to ${what}: ${body.message ?? 'is the address correct?'}`);

  return {
    async requireCompatibility(subject) {
      const path = `/config/${encodeURIComponent(subject)}`;
      if (isCompatible(await call('GET', path))) return;
      const answer = await call('PUT', path, { compatibility });
      // Some registries report a conflict when two nodes set the level at once.
      if (isCompatible(answer) || isCompatible(await call('GET', path))) return;
      throw refused(answer, `${compatibility} for subject ${subject}`);
    },

    async register(subject, schema) {
      const answer = await call('POST', `/subjects/${encodeURIComponent(subject)}/versions`, { schema });
      if (!isId(answer.body.id)) throw refused(answer, `a schema of subject ${subject}`);
      return answer.body.id;
    },

    async schemaOf(id) {
      const answer = await call('GET', `/schemas/ids/${id}`);
      if (typeof answer.body.schema === 'string') return answer.body.schema;
      if (answer.body.error_code === noSuchSchema) return undefined;
      throw refused(answer, `the request for schema ${id}`);
    },
  };
}

/** Checks both names of the level: they differ between registries, and between GET and PUT. */
const isCompatible = ({ body }: Answer): boolean =>
  [compatibility, stricter].some((level) => level === body.compatibilityLevel || level === body.compatibility);

/** Returns whether the value is a positive 32-bit integer, as registries use. */
export const isId = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) > 0 && Number(value) < 2 ** 31;

interface Answer {
  readonly status: number;
  /** Empty when the body is not a JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
}

type Sender = (method: 'GET' | 'PUT' | 'POST', path: string, body?: object) => Promise<Answer>;

function createSender(options: RegistryOptions, requestTimeoutMs: number): Sender {
  const { url, username, password = '', tls } = options;
  if (tls && new URL(url).protocol !== 'https:')
    throw new Error(`${nameOf(options)} has TLS options: its address must begin with https:`);
  const dispatcher = new Agent({ connect: { ...tls, timeout: requestTimeoutMs }, maxResponseSize: maxResponseBytes });
  const base = url.replace(/\/+$/, '');
  const headers: Record<string, string> = { accept: `${mediaType}, application/json`, 'content-type': mediaType };
  if (username !== undefined)
    headers.authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

  return async (method, path, body) => {
    const signal = AbortSignal.timeout(requestTimeoutMs);
    const message = { method, headers, dispatcher, signal, ...(body && { body: JSON.stringify(body) }) };
    const { status, text } = await request(base + path, message)
      .then(async (response) => ({ status: response.statusCode, text: await response.body.text() }))
      .catch((error: NodeJS.ErrnoException) => {
        throw new RegistryUnavailable(`${nameOf(options)} can't be reached: ${error.message || error.code}`, {
          cause: error,
        });
      });
    if (status >= 500 || status === 429) throw new RegistryUnavailable(`${nameOf(options)} answered ${status}`);
    if (status === 401 || status === 403) {
      const user = username === undefined ? 'a request without a user' : `user ${username}`;
      throw new Error(`${nameOf(options)} answered ${status} to ${user}`);
    }
    return { status, body: objectIn(text) };
  };
}

function objectIn(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Returns the registry's address without user and password. */
function nameOf({ url }: RegistryOptions): string {
  const { origin, pathname } = new URL(url);
  return `the schema registry at ${origin}${pathname}`;
}
