/** Changes of many geofences or beacons: of those that are named, or of all that match. */
import { callIn, type Scope } from './call';

/** What is done to each of many records. */
export type BulkAction = 'enable' | 'disable' | 'delete';
export type BulkResource = 'geofences' | 'beacons';

/** The conditions of a list, as the API takes them. */
export interface Conditions {
  readonly search?: string | undefined;
  readonly tag?: string | undefined;
  readonly externalId?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** The records to change: those that are named, or all that match at the time of each request. */
export type BulkTarget = { readonly ids: readonly string[] } | { readonly conditions: Conditions };

interface BulkResult {
  readonly changed: number;
  readonly unchanged: number;
  readonly missing: number;
  /** Whether it ended before all were changed: by the signal, or because a part was refused. */
  readonly isStopped: boolean;
  /** Why a part was refused. */
  readonly refusal?: unknown;
}

interface BulkOptions {
  /** What the change acts on until its end, whatever is chosen meanwhile. */
  readonly scope: Scope;
  readonly signal: AbortSignal;
  onProgress(done: number): void;
}

/** The API takes as many at once. */
const maxIds = 500;

/** Returns the ids of what matches and exists now, a page at a time. Those that come later are left out. */
async function* matchingIds(
  resource: BulkResource,
  conditions: Conditions,
  { scope, signal }: Pick<BulkOptions, 'scope' | 'signal'>,
) {
  const createdBefore = new Date().toISOString();
  let cursor: string | undefined;
  do {
    // The order of creation stays while records are changed.
    const query = { ...conditions, sort: 'createdAt' as const, limit: maxIds, createdBefore, cursor };
    const page = await callIn(scope, `GET /v1/${resource}`, { query, signal });
    const rows: readonly { readonly _id: string }[] = 'geofences' in page ? page.geofences : page.beacons;
    if (rows.length > 0) yield rows.map(({ _id }) => _id);
    cursor = page.meta.hasMore ? page.meta.cursor : undefined;
  } while (cursor !== undefined);
}

function* parts(ids: readonly string[]) {
  for (let at = 0; at < ids.length; at += maxIds) yield ids.slice(at, at + maxIds);
}

/** Runs the change until it is done, until the signal, or until a part is refused. Earlier parts stay changed. */
export async function changeMany(
  resource: BulkResource,
  action: BulkAction,
  target: BulkTarget,
  { scope, signal, onProgress }: BulkOptions,
): Promise<BulkResult> {
  const total = { changed: 0, unchanged: 0, missing: 0 };
  const batches = 'ids' in target ? parts(target.ids) : matchingIds(resource, target.conditions, { scope, signal });
  try {
    for await (const ids of batches) {
      if (signal.aborted) return { ...total, isStopped: true };
      const body = { action, ids: [...ids] };
      // Without the signal: what the server has begun it completes, and its answer says how many that were.
      const { changed, unchanged, missing } = await callIn(scope, `POST /v1/${resource}/bulk`, { body });
      total.changed += changed;
      total.unchanged += unchanged;
      total.missing += missing;
      onProgress(total.changed + total.unchanged + total.missing);
    }
  } catch (error) {
    const isAborted = error instanceof DOMException && signal.aborted;
    return { ...total, isStopped: true, ...(!isAborted && { refusal: error }) };
  }
  return { ...total, isStopped: false };
}
