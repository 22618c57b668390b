/** Requests to services that the operator has configured, whose addresses may be private. */
import { type Answer, refusal } from './answer.js';

/** A request to the address of a provider, which the operator chose. */
export interface JsonRequest {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal: AbortSignal;
}

/** An answer of a service, of any status. */
export interface JsonResponse {
  readonly status: number;
  /** Undefined if the body is not JSON. */
  readonly body: unknown;
}

const maxResponseBytes = 16 * 2 ** 20;

/** Returns the response, whatever its status. Answers `unavailable` without one. Redirects are not followed. */
export async function requestJson(request: JsonRequest): Promise<Answer<JsonResponse>> {
  try {
    const response = await fetch(request.url, {
      method: request.method ?? 'GET',
      headers: {
        accept: 'application/json, application/geo+json',
        ...(request.body !== undefined && { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
      redirect: 'manual',
      signal: request.signal,
    });
    const text = await boundedText(response);
    if (text === undefined) return refusal('unavailable', 'the provider sent too large an answer');
    return { ok: true, value: { status: response.status, body: parsed(text) } };
  } catch (error) {
    const { name, cause } = error as { name: string; cause?: { code?: string } };
    const reason =
      name === 'TimeoutError' || name === 'AbortError' ? 'it did not answer in time' : (cause?.code ?? name);
    return refusal('unavailable', `the provider could not be reached: ${reason}`);
  }
}

async function boundedText(response: Response): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > maxResponseBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
