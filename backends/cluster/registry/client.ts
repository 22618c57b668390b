/**
 * What we ask of a schema registry, over the API that Confluent's has and others copy.
 *
 * Flows in: schemas as text. Flows out: ids. Nothing is repeated here: what failed for now is a {@link RegistryUnavailable}, what would fail again an
 * Error that says what to change.
 */
import { Agent, request } from 'undici';
import type { RegistryOptions } from '../options.js';

const requestTimeoutMs = 5_000;
const maxResponseBytes = 1 << 20;
const mediaType = 'application/vnd.schemaregistry.v1+json';

const compatibility = 'BACKWARD_TRANSITIVE';
/** Others that allow nothing which ours forbids. */
const stricter = 'FULL_TRANSITIVE';

/** It doesn't answer, or not yet: the same may succeed later. */
export class RegistryUnavailable extends Error {
  override readonly name = 'RegistryUnavailable';
}

export interface RegistryClient {
  /** From now on the subject takes only versions that read what all before them wrote. */
  demandCompatibility(subject: string): Promise<void>;
  /** The schema's id: a new one, or the one it has. */
  register(subject: string, schema: string): Promise<number>;
  /** Undefined: there is none under this id. */
  schemaOf(id: number): Promise<string | undefined>;
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export function createRegistryClient(options: RegistryOptions): RegistryClient {
  const ask = createAsker(options);
  const wrong = ({ status, body }: Answer, what: string): Error =>
    new Error(
      `the schema registry at ${shown(options.url)} answered ${status} to ${what}: ${body.message ?? 'is this its address?'}`,
    );

  return {
    async demandCompatibility(subject) {
      const path = `/config/${encodeURIComponent(subject)}`;
      const found = await ask('GET', path);
      if (found.body.compatibilityLevel === compatibility || found.body.compatibilityLevel === stricter) return;
      const answer = await ask('PUT', path, { compatibility });
      if (answer.body.compatibility !== compatibility)
        throw wrong(answer, `compatibility ${compatibility} of subject ${subject}`);
    },

    async register(subject, schema) {
      const answer = await ask('POST', `/subjects/${encodeURIComponent(subject)}/versions`, { schema });
      if (!isId(answer.body.id)) throw wrong(answer, `a schema of subject ${subject}`);
      return answer.body.id;
    },

    async schemaOf(id) {
      const answer = await ask('GET', `/schemas/ids/${id}`);
      if (answer.status === 404) return undefined;
      if (typeof answer.body.schema !== 'string') throw wrong(answer, `the question for schema ${id}`);
      return answer.body.schema;
    },
  };
}

/** Ids are whole numbers from 1 on that fit into Java's int. */
export const isId = (value: unknown): value is number => Number.isInteger(value) && Number(value) > 0 && Number(value) < 2 ** 31;

type Asker = (method: 'GET' | 'PUT' | 'POST', path: string, body?: object) => Promise<Answer>;

function createAsker({ url, username, password = '', tls }: RegistryOptions): Asker {
  if (tls && new URL(url).protocol !== 'https:')
    throw new Error(`the schema registry's address ${shown(url)} must begin with https:`);
  const dispatcher = new Agent({ connect: { ...tls, timeout: requestTimeoutMs }, maxResponseSize: maxResponseBytes });
  const base = url.replace(/\/+$/, '');
  const headers = {
    accept: `${mediaType}, application/json`,
    'content-type': mediaType,
    ...(username !== undefined && { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }),
  };
  return async (method, path, body) => {
    let status: number;
    let text: string;
    try {
      const signal = AbortSignal.timeout(requestTimeoutMs);
      const response = await request(base + path, {
        method,
        headers,
        dispatcher,
        signal,
        body: body ? JSON.stringify(body) : null,
      });
      status = response.statusCode;
      text = await response.body.text();
    } catch (error) {
      const { message, code } = error as Error & { code?: string };
      throw new RegistryUnavailable(`the schema registry at ${shown(url)} can't be reached: ${message || code}`, {
        cause: error,
      });
    }
    const answer = { status, body: objectIn(text) };
    if (status >= 500 || status === 429)
      throw new RegistryUnavailable(`the schema registry at ${shown(url)} answered ${status}: ${text.slice(0, 500)}`);
    if (status === 401 || status === 403)
      throw new Error(`the schema registry at ${shown(url)} refuses us (${status}): user ${username ?? 'none'}`);
    return answer;
  };
}

function objectIn(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Without what may be secret in it. */
function shown(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
