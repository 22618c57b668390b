/**
 * What we ask of a schema registry, over the API that Confluent's has and others copy.
 *
 * Flows in: schemas as text. Flows out: ids. Nothing is asked twice here: errors tell what may succeed later from what
 * is refused ({@link isRefusal}), and say what is wrong, without secrets.
 */
import { Agent, request } from 'undici';
import type { RegistryOptions } from '../options.js';

const requestTimeoutMs = 5_000;
const maxResponseBytes = 1 << 20;
const mediaType = 'application/vnd.schemaregistry.v1+json';

const compatibility = 'BACKWARD_TRANSITIVE';
/** Allows nothing that ours forbids. */
const stricter = 'FULL_TRANSITIVE';
/** Of an answer 404: there is a registry, and it has no such schema. */
const noSuchSchema = 40_403;

/** It doesn't answer, or can't for now. */
class RegistryUnavailable extends Error {
  override readonly name = 'RegistryUnavailable';
}

/** Whether another try would fail as well. */
export const isRefusal = (error: unknown): boolean => !(error instanceof RegistryUnavailable);

export interface RegistryClient {
  /** From now on the subject takes only versions that read what all before them wrote. */
  demandCompatibility(subject: string): Promise<void>;
  /** The schema's id: a new one, or the one it has. */
  register(subject: string, schema: string): Promise<number>;
  /** Undefined: there is none under this id. */
  schemaOf(id: number): Promise<string | undefined>;
}

/** `onProblem` is told of an outage once, when it begins. */
export function createRegistryClient(options: RegistryOptions, onProblem: (problem: string) => void): RegistryClient {
  const send = createSender(options);
  let isAway = false;
  const ask: Sender = async (...message) => {
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
    new Error(`${nameOf(options)} answered ${status} to ${what}: ${body.message ?? 'is this its address?'}`);

  return {
    async demandCompatibility(subject) {
      const path = `/config/${encodeURIComponent(subject)}`;
      if (isCompatible(await ask('GET', path))) return;
      const answer = await ask('PUT', path, { compatibility });
      // Where two nodes set it at once, some registries call it a conflict.
      if (isCompatible(answer) || isCompatible(await ask('GET', path))) return;
      throw refused(answer, `${compatibility} for subject ${subject}`);
    },

    async register(subject, schema) {
      const answer = await ask('POST', `/subjects/${encodeURIComponent(subject)}/versions`, { schema });
      if (!isId(answer.body.id)) throw refused(answer, `a schema of subject ${subject}`);
      return answer.body.id;
    },

    async schemaOf(id) {
      const answer = await ask('GET', `/schemas/ids/${id}`);
      if (typeof answer.body.schema === 'string') return answer.body.schema;
      if (answer.body.error_code === noSuchSchema) return undefined;
      throw refused(answer, `the question for schema ${id}`);
    },
  };
}

/** Answers to GET and to PUT have different names for it, or not, as the registry likes. */
const isCompatible = ({ body }: Answer): boolean =>
  [compatibility, stricter].some((level) => level === body.compatibilityLevel || level === body.compatibility);

/** Whole numbers from 1 on that fit into Java's int. */
export const isId = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) > 0 && Number(value) < 2 ** 31;

interface Answer {
  readonly status: number;
  /** Empty when it is no JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
}

type Sender = (method: 'GET' | 'PUT' | 'POST', path: string, body?: object) => Promise<Answer>;

function createSender(options: RegistryOptions): Sender {
  const { url, username, password = '', tls } = options;
  if (tls && new URL(url).protocol !== 'https:')
    throw new Error(`${nameOf(options)} is to be encrypted: its address begins with https:`);
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
    if (status === 401 || status === 403)
      throw new Error(`${nameOf(options)} answered ${status} to user ${username ?? 'nobody'}`);
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

/** A name or password in the address isn't shown. */
function nameOf({ url }: RegistryOptions): string {
  const { origin, pathname } = new URL(url);
  return `the schema registry at ${origin}${pathname}`;
}
