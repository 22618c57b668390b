/** An HTTP client per key that returns answers unchanged. */
import type { AnswerCheck } from '../../testing/described-answers.js';

/** The body of an answer. Tests read any field; a missing one fails them. */
// biome-ignore lint/suspicious/noExplicitAny: the one place for it
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed when it is JSON, else the text. */
  readonly body: Json;
}

export interface Sending {
  /** An object is sent as JSON, text and bytes unchanged. */
  readonly body?: object | string | Uint8Array | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Longer than an upload may wait for a stage that has stalled, which is half a minute. */
const timeoutMs = 120_000;

export class Client {
  readonly #address: () => string;
  readonly #key: string | undefined;
  readonly #check: AnswerCheck | undefined;

  /** @param check compares every answer with the description of the API. */
  constructor(address: () => string, key: string | undefined, check?: AnswerCheck) {
    this.#address = address;
    this.#key = key;
    this.#check = check;
  }

  async send(method: string, path: string, { body, headers = {} }: Sending = {}): Promise<Answer> {
    const asIs = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(`${this.#address()}${path}`, {
      method,
      headers: {
        ...(this.#key !== undefined && { authorization: this.#key }),
        ...(body !== undefined && !asIs && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: asIs ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    const answer = {
      status: response.status,
      headers: response.headers,
      body: isJson && text ? JSON.parse(text) : text,
    };
    if (isJson && text !== '') this.#compare(method, response.url, answer);
    return answer;
  }

  /** Throws if the answer is not as /openapi.json describes it. */
  #compare(method: string, url: string, { status, body }: Answer): void {
    const fault = this.#check?.ofRequest(method, new URL(url).pathname, status, body);
    if (fault !== undefined) throw new Error(`${method} ${url}: ${fault}`);
  }

  get(path: string): Promise<Answer> {
    return this.send('GET', path);
  }

  /** Returns all records of the list `/v1/NAME`, page by page. */
  async listed(name: string, limit = 1_000): Promise<Json[]> {
    const records: Json[] = [];
    for (let cursor = ''; ; ) {
      const { [name]: page, meta } = ok(await this.get(`/v1/${name}?limit=${limit}${cursor}`));
      records.push(...page);
      if (!meta.hasMore) return records;
      cursor = `&cursor=${meta.cursor}`;
    }
  }

  post(path: string, body: object): Promise<Answer> {
    return this.send('POST', path, { body });
  }

  put(path: string, body: object): Promise<Answer> {
    return this.send('PUT', path, { body });
  }

  delete(path: string): Promise<Answer> {
    return this.send('DELETE', path);
  }

  /** Sends an HTML form. */
  form(method: string, path: string, fields: Readonly<Record<string, string>>): Promise<Answer> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return this.send(method, path, { body: new URLSearchParams(fields).toString(), headers });
  }

  /** Sends a track request and throws unless it is answered 200. */
  async track(fields: object): Promise<Json> {
    return ok(await this.post('/v1/track', { ...trackDefaults, ...fields }));
  }

  /** Sends NDJSON, one line per location. */
  bulk(locations: readonly object[] | string): Promise<Answer> {
    const body =
      typeof locations === 'string' ? locations : locations.map((line) => `${JSON.stringify(line)}\n`).join('');
    return this.send('POST', '/v1/locations', { body, headers: { 'content-type': 'application/x-ndjson' } });
  }

  async putGeofence(externalId: string, fields: object, tag = 'test'): Promise<Json> {
    return ok(await this.put(`/v1/geofences/${tag}/${externalId}`, { description: externalId, ...fields })).geofence;
  }

  async putBeacon(externalId: string, fields: object, tag = 'test'): Promise<Json> {
    return ok(await this.put(`/v1/beacons/${tag}/${externalId}`, { description: externalId, enabled: true, ...fields }))
      .beacon;
  }
}

export const trackDefaults = { accuracy: 5, foreground: false, stopped: false };

/** Returns the body of an answer and throws unless it is 200. */
export function ok(answer: Answer): Json {
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}
