/**
 * Sends the replies of committed batches. Input: evaluated locations whose requests wait. Output: one reply each.
 *
 * Searches for nearby geofences run in the background, because the partition has locations of other projects as well.
 * They are shared among projects. A reply whose search takes too long goes without it, before its request has waited
 * in vain for its events.
 */
import { createSearchLimit } from '../../catalog/queries/search-limit.js';
import type { SpatialQueries } from '../../catalog/types.js';
import { isPortError, PortError } from '../../errors.js';
import { withinMs } from '../../time-limit.js';
import { Background } from '../background.js';
import { type AwaitedLocation, eventsReply, type ReplySources, trackReply } from './reply.js';

/** As many as a batch may have: the time limit bounds how much they take. */
const maxWaitingPerProject = 10_000;
/** After it, a reply goes without nearby geofences. Half of the default time that a request waits for its reply. */
const maxSearchMs = 1_000;

interface ReplySenderParts {
  readonly replies: { send(replyTo: string, body: string): void };
  readonly configuration: ReplySources['configuration'];
  /** Without it, replies have no nearby geofences. */
  readonly searchGeofences?: SpatialQueries['searchGeofences'];
  /** Called when a reply fails. */
  readonly onFailure: (error: unknown) => void;
}

/** Answers waiting requests after the commit. A reply that fails is reported, and its request ends without events. */
export interface ReplySender {
  /** Sends the replies. Only the last location of a request gets the user. */
  send(awaited: readonly AwaitedLocation[]): void;
  /** Resolves when every reply is sent and no search runs. */
  idle(): Promise<void>;
}

/**
 * Creates the sender of replies. Searches are shared among projects, and a failed reply is reported and never repeated.
 */
export function createReplySender(parts: ReplySenderParts): ReplySender {
  const { replies, configuration, searchGeofences, onFailure } = parts;
  const background = new Background(onFailure);
  const inTurn = createSearchLimit({ maxWaitingPerProject, maxWaitMs: maxSearchMs });
  const sources: ReplySources = { configuration, ...(searchGeofences && { searchNearby: nearby(searchGeofences) }) };

  /** Returns a search that returns undefined when it is refused or takes too long. */
  function nearby(search: SpatialQueries['searchGeofences']): NonNullable<ReplySources['searchNearby']> {
    return async (query) => {
      const end = new AbortController();
      const tooLate = (): PortError => {
        const error = new PortError('overloaded', 'the search took too long');
        end.abort(error);
        return error;
      };
      const found = inTurn(query.project, () => search(query, end.signal), end.signal);
      // A search that nobody waits for any more still has its place until it ends, and may still fail.
      background.run(found.catch(ignoreOverload));
      return withinMs(maxSearchMs, found, tooLate).catch(ignoreOverload);
    };
  }

  async function sendOne(each: AwaitedLocation, isLatest: boolean): Promise<void> {
    const reply = isLatest ? await trackReply(each, sources) : eventsReply(each);
    replies.send(each.replyTo, JSON.stringify(reply));
  }

  return {
    send(awaited) {
      const latest = new Map(awaited.map((each) => [each.replyTo, each]));
      for (const each of awaited) background.run(sendOne(each, latest.get(each.replyTo) === each));
    },
    idle: () => background.idle(),
  };
}

function ignoreOverload(error: unknown): undefined {
  if (!isPortError(error, 'overloaded')) throw error;
  return undefined;
}
