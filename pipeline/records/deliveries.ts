/**
 * What a webhook is sent, as bytes that stay the same on every try. Pure.
 *
 * Flows in: a webhook, events as JSON text, their user as JSON text. Flows out: Delivery records, whose bodies are
 * `{"event":…,"user":…}`, or `{"events":[…],"user":…}` where the webhook wants the events of one location together.
 */
import { deriveId } from '../../schemas/ids.js';
import { maxGroupedEvents, type WebhookRecord } from '../../schemas/json/webhook.js';
import type { Delivery, DeliveryReason, DeviceState } from '../../schemas/records.js';
import type { ConfigurationReader } from '../catalog/types.js';
import { type DeviceScope, userOf } from './user.js';

/** An event as a request carries it. */
export interface PayloadEvent {
  readonly id: string;
  /** The location that caused it; null for a conversion. */
  readonly locationId: string | null;
  /** The key under which the event is on its topic, which names the device. */
  readonly orderKey: string;
  /** Its wire form, as of `eventText`. */
  readonly text: string;
}

/**
 * UTF-16 units, of at most three bytes each in UTF-8, so that no delivery is larger than a queue takes (1 MiB). A
 * larger event is not sent; a larger user is left to what the event says of it.
 */
export const maxEventCharacters = 150_000;
export const maxUserCharacters = 150_000;
const maxBodyCharacters = 320_000;

export interface DeliveryFacts {
  readonly reason: DeliveryReason;
  /** Epoch ms: since when it waits. */
  readonly createdAt: number;
}

/**
 * The deliveries of these events to the webhook, in their order. `events` are of one user, whose wire form is
 * `userText`; undefined where there is none. Those of one location that stand side by side are grouped if the webhook
 * wants that.
 */
export function deliveriesOf(
  webhook: WebhookRecord,
  events: readonly PayloadEvent[],
  userText: string | undefined,
  { reason, createdAt }: DeliveryFacts,
): Delivery[] {
  const isGrouped = webhook.delivery === 'grouped';
  const user = userText === undefined ? '' : `,"user":${userText}`;
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

const areOfOneLocation = (a: PayloadEvent, b: PayloadEvent): boolean =>
  a.locationId !== null && a.locationId === b.locationId && a.orderKey === b.orderKey;

function groupsOf(events: readonly PayloadEvent[], maxCharacters: number): PayloadEvent[][] {
  const groups: PayloadEvent[][] = [];
  let group: PayloadEvent[] = [];
  let characters = 0;
  for (const event of events) {
    const [first] = group;
    const joins =
      first !== undefined &&
      areOfOneLocation(first, event) &&
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
