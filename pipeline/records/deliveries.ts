/**
 * Builds the payload of a delivery as bytes, which stay the same on every attempt. Pure.
 *
 * Input: a webhook, events as JSON text, their user as JSON text. Output: Delivery records with bodies
 * `{"event":…,"user":…}`, or `{"events":[…],"user":…}` for a webhook with grouped delivery.
 */
import { deriveId } from '../../schemas/ids.js';
import { maxGroupedEvents } from '../../schemas/json/constants.js';
import type { WebhookRecord } from '../../schemas/json/webhook.js';
import type { Delivery, DeliveryReason, DeviceState } from '../../schemas/records.js';
import type { ConfigurationReader } from '../catalog/types.js';
import { type DeviceScope, userOf } from './user.js';

/** An event within a payload. */
export interface PayloadEvent {
  readonly id: string;
  /** The location that caused it; null for a conversion. */
  readonly locationId: string | null;
  /** Key of the event's record, which identifies the device. */
  readonly orderKey: string;
  /** Wire form, as of `eventText`. */
  readonly text: string;
}

/**
 * Bounds in UTF-16 units of at most three UTF-8 bytes each, so that a delivery fits into the queue (1 MiB). A larger
 * event is not sent; for a larger user the payload has the event's own fields of the user.
 */
export const maxEventCharacters = 150_000;
export const maxUserCharacters = 150_000;
const maxBodyCharacters = 320_000;

interface DeliveryFields {
  readonly reason: DeliveryReason;
  /** Time of queueing, epoch ms. */
  readonly createdAt: number;
}

/**
 * Makes the deliveries of the events to the webhook, in order. `events` belong to one user, whose wire form is
 * `userText`. Without one the user is empty: receivers of Radar's payloads read its fields without a check. Adjacent
 * events of one location are grouped if the webhook has grouped delivery.
 */
export function deliveriesOf(
  webhook: WebhookRecord,
  events: readonly PayloadEvent[],
  userText: string | undefined,
  { reason, createdAt }: DeliveryFields,
): Delivery[] {
  const isGrouped = webhook.delivery === 'grouped';
  const user = `,"user":${userText ?? '{}'}`;
  const groups = isGrouped ? groupsOf(events, maxBodyCharacters - user.length) : events.map((event) => [event]);
  return groups.map((group) => {
    const ids = group.map(({ id }) => id);
    const texts = group.map(({ text }) => text).join(',');
    return {
      id: deriveId('delivery', webhook._id, ...ids),
      webhook: webhook._id,
      project: webhook.project,
      environment: webhook.environment,
      orderKey: (group[0] as PayloadEvent).orderKey,
      events: ids,
      body: Buffer.from(isGrouped ? `{"events":[${texts}]${user}}` : `{"event":${texts}${user}}`),
      reason,
      createdAt,
    };
  });
}

/**
 * Returns a stored user in wire form. Undefined if the device has no such user, or the text is too large to be sent.
 */
export function storedUserText(
  state: DeviceState | undefined,
  id: string,
  device: DeviceScope,
  configuration: ConfigurationReader,
): string | undefined {
  const stored = state?.users.find((user) => user.id === id);
  const user = stored && userOf(stored, device, configuration);
  const text = user && JSON.stringify(user);
  return text === undefined || text.length > maxUserCharacters ? undefined : text;
}

/** Tests whether one location of a device caused both events. */
export const areOfSameLocation = (a: PayloadEvent, b: PayloadEvent): boolean =>
  a.locationId !== null && a.locationId === b.locationId && a.orderKey === b.orderKey;

function groupsOf(events: readonly PayloadEvent[], maxCharacters: number): PayloadEvent[][] {
  const groups: PayloadEvent[][] = [];
  let group: PayloadEvent[] = [];
  let characters = 0;
  for (const event of events) {
    const [first] = group;
    const joins =
      first !== undefined &&
      areOfSameLocation(first, event) &&
      group.length < maxGroupedEvents &&
      characters + event.text.length <= maxCharacters;
    if (!joins) {
      group = [];
      characters = 0;
      groups.push(group);
    }
    group.push(event);
    characters += event.text.length + 1;
  }
  return groups;
}
