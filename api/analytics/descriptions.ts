/** Names the places of analytics rows. Stored events have ids, tags and external ids; a reader knows descriptions. */
import type { ConfigurationReader, Scope } from '../../pipeline/catalog/types.js';
import type { Steps } from '../../schemas/turns.js';

/** Each name of a field with the fields of its place. */
const named = [
  ['description', 'geofence', 'beacon'],
  ['fromDescription', 'fromGeofence', 'fromBeacon'],
  ['toDescription', 'toGeofence', 'toBeacon'],
] as const;

type Row = Readonly<Record<string, unknown>>;
type Configuration = Pick<ConfigurationReader, 'storedGeofenceHead' | 'beacon'>;

/**
 * Returns the rows with the present descriptions of their places. A place that is deleted has none. Each step reads the
 * places of one row.
 */
export function* withDescriptions(rows: readonly object[], scope: Scope, configuration: Configuration): Steps<Row[]> {
  const known = new Map<string, string | undefined>();
  function descriptionOf(geofence: unknown, beacon: unknown): string | undefined {
    const id = geofence ?? beacon;
    if (typeof id !== 'string') return undefined;
    if (!known.has(id)) {
      const record = geofence ? configuration.storedGeofenceHead(scope, id) : configuration.beacon(scope, id);
      known.set(id, record?.description);
    }
    return known.get(id);
  }
  const results: Row[] = [];
  for (const row of rows as readonly Row[]) {
    const descriptions = named.flatMap(([field, geofence, beacon]) => {
      const description = descriptionOf(row[geofence], row[beacon]);
      return description === undefined ? [] : [[field, description]];
    });
    results.push({ ...row, ...Object.fromEntries(descriptions) });
    yield;
  }
  return results;
}
