/** Reads lists of a server that speaks Radar's API, page by page, newest first, with retries. */
import { isDictionary } from '../../http/fields/values.js';
import { CommandFailure } from '../command.js';
import { type Access, call, Refusal } from '../server.js';

/** A record of a list. `_id` and the times are text in every list. */
export type ListedRecord = Readonly<Record<string, unknown>> & { readonly _id: string };

interface ListOptions {
  readonly path: 'geofences' | 'beacons' | 'events';
  /** The time by which the list is sorted and paged. */
  readonly time: 'createdAt' | 'updatedAt';
  /** Only records before this time, ISO 8601. Default: all. */
  readonly before?: string | undefined;
  /** Only records after this time, ISO 8601. Default: all. */
  readonly after?: string | undefined;
}

interface Page {
  readonly records: readonly ListedRecord[];
  /** Where the next page begins; undefined on the last page. */
  readonly before: string | undefined;
}

const pageRecords = 1_000;
const maxRetries = 7;
const timeoutMs = 60_000;

/**
 * Yields the pages of a list. The cursor of such a list is a time, and records may share one. So each page begins a
 * millisecond earlier than the last one ended, and records that were in that page are left out.
 */
export async function* pagesOf(service: Access, { path, time, before, after }: ListOptions): AsyncGenerator<Page> {
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
    if (!isLast && (typeof last !== 'string' || Number.isNaN(Date.parse(last))))
      throw new CommandFailure(`a record of ${path} has no ${time}`);
    cursor = isLast ? undefined : new Date(Date.parse(last as string) + 1).toISOString();
    seen = new Set(listed.map(({ _id }) => _id));
    yield { records, before: cursor };
    if (cursor === undefined) return;
  }
}

function listOf(body: Readonly<Record<string, unknown>>, path: string): ListedRecord[] {
  const list = body[path];
  if (!Array.isArray(list)) throw new CommandFailure(`the answer has no list ${path}`);
  if (!list.every((record) => isDictionary(record) && typeof record._id === 'string'))
    throw new CommandFailure(`a record of ${path} has no _id`);
  return list as ListedRecord[];
}

/** Returns the body of an answer, a JSON object. Tries again while the service is busy, or no longer answers. */
export async function get(service: Access, path: string): Promise<Readonly<Record<string, unknown>>> {
  const options = { timeoutMs, maxRetries };
  const route = `${service.address}${path.split('?')[0]}`;
  const body = await call<unknown>(service, 'GET', path, options).catch((error: Error) => {
    if (!(error instanceof Refusal)) throw error;
    throw new CommandFailure(`${route}: ${error.message}`);
  });
  if (!isDictionary(body)) throw new CommandFailure(`${route}: the answer is not a JSON object`);
  return body;
}
