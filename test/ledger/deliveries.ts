/** Compares what a webhook receiver got during a run with the event log. */
import { createHash } from 'node:crypto';
import type { Answering, ReceivedRequest, Receiver } from '../../testing/receiver.js';
import { differences } from './differences.js';

const isUnlucky = (id: string): boolean => createHash('sha256').update(id).digest().readUInt16BE(0) % 50 === 0;

const idOf = ({ headers }: ReceivedRequest): string => String(headers['webhook-id']);

interface SentEvent {
  readonly _id: string;
  readonly user: { readonly deviceId: string };
}

const eventOf = ({ body }: ReceivedRequest): SentEvent => (JSON.parse(body.toString()) as { event: SentEvent }).event;

/** Refuses the first attempt of every fiftieth delivery, chosen by its id: the same ones in every run. */
export function refusingSome(): Answering {
  const refused = new Set<string>();
  return (request, response) => {
    const id = idOf(request);
    const refuse = isUnlucky(id) && !refused.has(id);
    if (refuse) refused.add(id);
    response.writeHead(refuse ? 503 : 204).end();
  };
}

/** Returns the events that arrived at least once. */
export const deliveredIds = ({ requests }: Receiver): Set<string> =>
  new Set(requests.map((request) => eventOf(request)._id));

/**
 * Returns the problems of the deliveries. There are none when exactly the events of the log arrived, each delivery had
 * the same bytes on every attempt, and deliveries whose attempts were all answered, and never refused, arrived in the
 * order of the log per device. Later events may overtake a retry. If deliveries may be created again, only their event
 * has to be the same.
 */
export function deliveryProblems(
  receiver: Receiver,
  loggedIds: readonly string[],
  unansweredIds: ReadonlySet<string>,
  mayBeCreatedAgain: boolean,
): string[] {
  const bytesOf = (request: ReceivedRequest) =>
    mayBeCreatedAgain ? Buffer.from(JSON.stringify(eventOf(request))) : request.body;
  return [
    ...differences('events at the webhook', [...new Set(loggedIds)], [...deliveredIds(receiver)]),
    ...changedBytes(receiver, bytesOf),
    ...outOfOrder(receiver, loggedIds, unansweredIds),
  ];
}

function changedBytes({ requests }: Receiver, bytesOf: (request: ReceivedRequest) => Buffer): string[] {
  const bodies = new Map<string, Buffer>();
  return requests.flatMap((request) => {
    const id = idOf(request);
    const bytes = bytesOf(request);
    const before = bodies.get(id) ?? bytes;
    bodies.set(id, before);
    return before.equals(bytes) ? [] : [`delivery ${id} had other bytes on a later attempt`];
  });
}

function outOfOrder(
  { requests }: Receiver,
  loggedIds: readonly string[],
  unansweredIds: ReadonlySet<string>,
): string[] {
  // The first place counts for an id that the log holds more than once.
  const places = new Map(loggedIds.map((id, place) => [id, place] as const).reverse());
  const seen = new Set<string>();
  const latest = new Map<string, { readonly place: number; readonly atMs: number }>();
  return requests.flatMap((request) => {
    const { _id, user } = eventOf(request);
    if (seen.has(_id) || isUnlucky(idOf(request)) || unansweredIds.has(idOf(request))) return [];
    seen.add(_id);
    const place = places.get(_id) ?? -1;
    const before = latest.get(user.deviceId);
    if (before === undefined || place >= before.place) {
      latest.set(user.deviceId, { place, atMs: request.receivedAtMs });
      return [];
    }
    return [`event ${_id} of ${user.deviceId} arrived ${request.receivedAtMs - before.atMs} ms after a later one`];
  });
}
