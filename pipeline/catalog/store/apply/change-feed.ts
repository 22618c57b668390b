/** The feed of changes, by which followers know what they must read again. */
import type { ChangeKind } from '../../../../schemas/records.js';
import type { ChangedThing, ConfigurationReader, FeedPage, Scope } from '../../types.js';
import type { Databases } from '../tables/databases.js';

/** Returns a line of the feed: kind and id, then project and environment if the record has them. */
const feedLine = ({ kind, id, scope }: ChangedThing): string =>
  scope ? `${kind}/${id}/${scope.project}/${scope.environment}` : `${kind}/${id}`;

function thingOfLine(line: string): ChangedThing {
  const [kind = '', id = '', project, environment] = line.split('/');
  const scope = project && environment ? { project, environment: environment as Scope['environment'] } : null;
  return { kind: kind as ChangeKind, id, scope };
}

/** The latest changed things, by version. Older ones are forgotten, and a follower that needs them loads everything. */
export interface ChangeFeed {
  /** Adds the things that a batch has changed. Must run in a write transaction. */
  addSync(version: number, things: readonly ChangedThing[]): void;
  /** Returns what has changed after a version and until `latest`, as {@link ConfigurationReader.feed} does. */
  page(fromVersion: number, latest: number, limit: number): FeedPage;
}

/**
 * Creates the feed of latest changes.
 * @param feedRecords number of versions that the feed reaches back.
 */
export const createChangeFeed = ({ feed }: Pick<Databases, 'feed'>, feedRecords: number): ChangeFeed => ({
  addSync(version, things) {
    if (things.length > 0) feed.putSync(version, things.map(feedLine).join('\n'));
    for (const key of [...feed.getKeys({ end: version - feedRecords + 1 })]) feed.removeSync(key);
  },
  page(fromVersion, latest, limit) {
    const things = new Map<string, ChangedThing>();
    for (const { key, value } of feed.getRange({ start: fromVersion + 1 })) {
      for (const line of value.split('\n')) things.set(line, thingOfLine(line));
      if (things.size >= limit) return { things: [...things.values()], version: key };
    }
    return { things: [...things.values()], version: latest };
  },
});
