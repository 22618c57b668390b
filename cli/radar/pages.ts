/** Reads lists of a server that speaks Radar's API, page by page, newest first, with retries. */
import { setTimeout as delay } from 'node:timers/promises';
import { CommandFailure } from '../command.js';

/** A record of a list. `_id` and the times are text in every list. */
export type ListedRecord = Readonly<Record<string, unknown>> & { readonly _id: string };

export interface Service {
  readonly address: string;
  readonly key: string;
}

export interface ListOptions {
  readonly path: 'geofences' | 'beacons' | 'events';
  /** The time by which the list is sorted and paged. */
  readonly time: 'createdAt' | 'updatedAt';
  /** Only records before this time, ISO 8601. Default: all. */
  readonly before?: string | undefined;
  /** Only records after this time, ISO 8601. Default: all. */
  readonly after?: string | undefined;
}

export interface Page {
  readonly records: readonly ListedRecord[];
  /** Where the next page begins; undefined on the last page. */
  readonly before: string | undefined;
}

const pageRecords = 1_000;
const maxAttempts = 8;
const timeoutMs = 60_000;
const maxWaitS = 60;

/**
 * Yields the pages of a list. The cursor of such a list is a time, and records may share one. So each page begins a
 * millisecond earlier than the last one ended, and records that were in that page are left out.
 */
export async function* pagesOf(service: Service, { path, time, before, after }: ListOptions): AsyncGenerator<Page> {
  let seen = new Set<string>();
  for (let cursor = before; ; ) {
    const query = new URLSearchParams({ limit: `${pageRecords}` });
    if (cursor !== undefined) query.set(time.replace('At', 'Before'), cursor);
    if (after !== undefined) query.set(time.replace('At', 'After'), after);
    const listed = listOf(await get(service, `/v1/${path}?${query}`), path);
    const records = listed.filter(({ _id }) => !seen.has(_id));
    const last = listed.at(-1)?.[time];
    const isLast = listed.length < pageRecords;
    if (!isLast && records.length === 0)
      throw new CommandFailure(`more than ${pageRecords} ${path} share the time ${last}, and a page has no more`);
    if (!isLast && typeof last !== 'string') throw new CommandFailure(`a record of ${path} has no ${time}`);
    cursor = isLast ? undefined : new Date(Date.parse(last as string) + 1).toISOString();
    seen = new Set(listed.map(({ _id }) => _id));
    yield { records, before: cursor };
    if (cursor === undefined) return;
  }
}

function listOf(body: Readonly<Record<string, unknown>>, path: string): ListedRecord[] {
  const list = body[path];
  if (!Array.isArray(list)) throw new CommandFailure(`the answer has no list ${path}`);
  return list as ListedRecord[];
}

/** Returns the body of an answer. Waits and tries again while the service is busy or out of reach. */
export async function get({ address, key }: Service, path: string): Promise<Readonly<Record<string, unknown>>> {
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(`${address}${path}`, {
      headers: { authorization: key },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((error: Error & { cause?: Error }) => error.cause?.message ?? error.message);
    if (typeof answer !== 'string' && answer.ok) return readBody(answer, address);
    const isPassing = typeof answer === 'string' || answer.status === 429 || answer.status >= 500;
    const reason = typeof answer === 'string' ? answer : await messageOf(answer);
    if (!isPassing || attempt === maxAttempts) throw new CommandFailure(`${address}${path.split('?')[0]}: ${reason}`);
    const askedS = typeof answer === 'string' ? Number.NaN : Number(answer.headers.get('retry-after') ?? Number.NaN);
    await delay(1_000 * Math.min(Number.isFinite(askedS) ? askedS : 0.5 * 2 ** (attempt - 1), maxWaitS));
  }
}

const readBody = (answer: Response, address: string): Promise<Readonly<Record<string, unknown>>> =>
  answer.json().catch(() => {
    throw new CommandFailure(`${address} does not answer in JSON`);
  }) as Promise<Readonly<Record<string, unknown>>>;

async function messageOf(answer: Response): Promise<string> {
  const { meta } = (await answer.json().catch(() => ({}))) as { meta?: { message?: string; error?: string } };
  return `it answered ${answer.status} ${meta?.message ?? meta?.error ?? ''}`.trim();
}
