/**
 * Delivers events to a webhook again.
 *
 * Input: one event or a time range. Output: deliveries on topic `deliveries`. An event that was sent before is
 * sent in its last delivery, with the same id and bytes. Any other event gets a new delivery, as if it happened now,
 * with its user as of now.
 */
import { found } from '../../http/describe.js';
import type { ListCursor } from '../../pipeline/catalog/types.js';
import { type Analytics, topics } from '../../pipeline/ports.js';
import { deliveriesOf, maxEventCharacters, storedUserText } from '../../pipeline/records/deliveries.js';
import { deviceKey } from '../../pipeline/records/device-key.js';
import { codecs } from '../../schemas/codecs.js';
import { ApiError } from '../../schemas/errors.js';
import { groupedBy } from '../../schemas/groups.js';
import { maxGroupedEvents } from '../../schemas/json/constants.js';
import type { Event } from '../../schemas/json/user.js';
import type { WebhookRecord } from '../../schemas/json/webhook.js';
import type { Delivery } from '../../schemas/records.js';
import type { ApiDependencies } from '../dependencies.js';
import type { EventRange } from './redelivery-fields.js';
import { eventById, eventsOfRange, lastSent, type SentEvents, type StoredEvent } from './stored-events.js';

interface RedeliveryDependencies extends Pick<ApiDependencies, 'log' | 'configuration' | 'states' | 'clock'> {
  readonly analytics: Pick<Analytics, 'query'>;
}

/**
 * Limits of one call, of the events that a step of it reads, and of those whose deliveries are in memory at once. A
 * part ends with a location unless that alone has more events.
 */
const redeliveryBounds = { maxEvents: 10_000, maxStepEvents: 1_000, maxPartEvents: 100 } as const;
/** Beyond it a location has several parts; a multiple of the events in a group. */
const maxLocationEvents = 20 * maxGroupedEvents;
type RedeliveryBounds = Readonly<Record<keyof typeof redeliveryBounds, number>>;

/** Returns the number of deliveries and the cursor of the next call; null: nothing is left. */
export async function redeliverRange(
  dependencies: RedeliveryDependencies,
  webhook: WebhookRecord,
  range: EventRange,
  { maxEvents, maxStepEvents, maxPartEvents }: RedeliveryBounds = redeliveryBounds,
): Promise<{ readonly deliveries: number; readonly next: ListCursor | null }> {
  let { cursor } = range;
  let deliveries = 0;
  for (let events = 0; events < maxEvents; ) {
    const step = await eventsOfRange(dependencies.analytics, webhook, { ...range, cursor }, maxStepEvents);
    deliveries += await redeliver(dependencies, webhook, partsOf(step.events, maxPartEvents), range.failedOnly);
    events += step.events.length;
    cursor = step.next;
    if (cursor === null) break;
  }
  return { deliveries, next: cursor };
}

/** Returns the number of deliveries. */
export async function redeliverEvent(
  dependencies: RedeliveryDependencies,
  webhook: WebhookRecord,
  id: string,
): Promise<number> {
  const event = found(await eventById(dependencies.analytics, webhook, id), 'event');
  if (!isWanted(webhook, event)) throw new ApiError('conflict', "the webhook's types and tags exclude this event");
  return redeliver(dependencies, webhook, [[event]], false);
}

const isWanted = ({ types, tags }: WebhookRecord, { type, tag }: StoredEvent): boolean =>
  (types?.includes(type) ?? true) && (tags?.includes(tag) ?? true);

/** Queues the deliveries of each part. Returns their number. */
async function redeliver(
  dependencies: RedeliveryDependencies,
  webhook: WebhookRecord,
  parts: Iterable<readonly StoredEvent[]>,
  failedOnly: boolean,
): Promise<number> {
  /** A delivery may have events of two parts. */
  const queued = new Set<string>();
  for (const events of parts) {
    const sent = await lastSent(dependencies.analytics, webhook, events);
    const asked = failedOnly ? events.filter(({ id }) => (sent.get(id)?.state ?? 'delivered') !== 'delivered') : events;
    const deliveries: Delivery[] = [];
    for (const ofOneLocation of byCause(asked))
      deliveries.push(...(await deliveriesAgain(dependencies, webhook, ofOneLocation, sent)));
    const records = deliveries
      .filter(({ id }) => !queued.has(id))
      .map((delivery) => ({ key: webhook._id, value: codecs.delivery.encode(delivery) }));
    for (const { id } of deliveries) queued.add(id);
    if (records.length > 0) await dependencies.log.append(topics.deliveries, records);
  }
  return queued.size;
}

function* partsOf(events: readonly StoredEvent[], maxEvents: number): Generator<StoredEvent[]> {
  let part: StoredEvent[] = [];
  for (const ofOneLocation of byCause(events)) {
    for (let start = 0; start < ofOneLocation.length; start += maxLocationEvents) {
      part.push(...ofOneLocation.slice(start, start + maxLocationEvents));
      if (part.length < maxEvents) continue;
      yield part;
      part = [];
    }
  }
  if (part.length > 0) yield part;
}

const byCause = (events: readonly StoredEvent[]): StoredEvent[][] => [
  ...groupedBy(events, ({ cause }) => cause).values(),
];

/** Returns the deliveries that were made before, each once, then new ones. */
async function deliveriesAgain(
  dependencies: RedeliveryDependencies,
  webhook: WebhookRecord,
  events: readonly StoredEvent[],
  sent: ReadonlyMap<string, SentEvents>,
): Promise<Delivery[]> {
  const { _id, project, environment } = webhook;
  const [first] = events as [StoredEvent];
  const facts = { reason: 'redelivery', createdAt: dependencies.clock() } as const;
  // Topic `events` keys an event without a device by its own id.
  const orderKey = deviceKey({ project, environment, deviceId: first.deviceId || first.id });

  const before = new Map(events.flatMap(({ id }) => sent.get(id) ?? []).map((last) => [last.delivery, last]));
  const repeated = [...before.values()].map(
    ({ delivery: id, events, body }): Delivery => ({
      id,
      webhook: _id,
      project,
      environment,
      orderKey,
      events,
      body: Buffer.from(body),
      ...facts,
    }),
  );
  const unsent = events.filter(({ id, body }) => !sent.has(id) && body.length <= maxEventCharacters);
  if (unsent.length === 0) return repeated;
  const payload = unsent.map(({ id, locationId, body }) => ({
    id,
    locationId: locationId || null,
    orderKey,
    text: body,
  }));
  return [...repeated, ...deliveriesOf(webhook, payload, await userText(dependencies, webhook, first), facts)];
}

/** Returns the user as of now in wire form, else the user in the event. Undefined where the event has none. */
async function userText(
  { states, configuration }: RedeliveryDependencies,
  { project, environment }: WebhookRecord,
  { deviceId, user, body }: StoredEvent,
): Promise<string | undefined> {
  const device = { project, environment, deviceId };
  const state = await states?.(device, deviceId);
  return storedUserText(state, user, device, configuration) ?? JSON.stringify((JSON.parse(body) as Event).user);
}
