/**
 * From records to deliveries.
 *
 * Flows in: a batch of one partition, of topic `events` or of topic `deliveries`. Flows out: the deliveries that it
 * makes, in chunks that are queued one after the other, and the records that nothing can be made of. May import:
 * schemas, the catalog's reader, ports.
 */
import type { Codecs } from '../../../schemas/codecs.js';
import type { WebhookRecord } from '../../../schemas/json/webhook.js';
import type { Delivery } from '../../../schemas/records.js';
import { eventText } from '../../../schemas/wire/event-text.js';
import { isId } from '../../catalog/store/keys.js';
import type { Scope } from '../../catalog/types.js';
import type { DeliveryQueue, LogRecord, Replacement } from '../../ports.js';
import { type BadRecord, decodeRecord, isBadRecord } from '../../records/decode.js';
import { deliveriesOf, maxEventCharacters, type PayloadEvent } from '../../records/deliveries.js';
import { addTo } from './lists.js';
import { type Matcher, matchableOf, type WebhookDirectory } from './matching.js';
import type { IsRepeat } from './repeats.js';
import type { MadeDelivery } from './source.js';
import { type EventOfDevice, loadUserTexts, type UserTextParts } from './users.js';

/** Deliveries that are queued in one go with the position after what they were made of. */
export interface Chunk {
  readonly nextOffset: number;
  readonly made: readonly MadeDelivery[];
}

export interface Batch {
  /** In offset order. */
  readonly bad: readonly BadRecord[];
  /** Made as they are asked for; the last ends where the batch ends. */
  readonly chunks: Iterable<Chunk>;
}

export type FanOut = (records: readonly LogRecord[], isRepeat: IsRepeat) => Promise<Batch>;

/**
 * Of one chunk, which a store takes at once and answers nobody else meanwhile. What one location makes is never parted,
 * so there may be more.
 */
const maxChunkDeliveries = 500;

export interface RedeliveryParts {
  readonly codecs: Pick<Codecs, 'delivery'>;
  readonly queue: Pick<DeliveryQueue, 'replace'>;
  /** As long as a delivery may wait. */
  readonly keepWaitingMs: number;
}

/** Sends deliveries that were asked for again, as they were made. They replace those of the same id that still wait. */
export function createRedelivery({ codecs: { delivery: codec }, queue, keepWaitingMs }: RedeliveryParts): FanOut {
  return async (records) => {
    const bad: BadRecord[] = [];
    const made: MadeDelivery[] = [];
    for (const record of records) {
      const delivery = decodeDelivery(record);
      if (isBadRecord(delivery)) bad.push(delivery);
      else made.push({ delivery, value: record.value as Buffer, sinceMs: record.timestamp });
    }
    // Before they are queued: a crash in between reads the same records again.
    await replaceOlder(made);
    return { bad, chunks: [{ nextOffset: endOf(records), made }] };
  };

  async function replaceOlder(made: readonly MadeDelivery[]): Promise<void> {
    const byWebhook = new Map<string, Replacement[]>();
    for (const { delivery } of made) {
      addTo(byWebhook, delivery.webhook, { delivery: delivery.id, createdAtMs: delivery.createdAt });
    }
    for (const [webhook, replacements] of byWebhook) await queue.replace(webhook, replacements, keepWaitingMs);
  }

  function decodeDelivery(record: LogRecord): Delivery | BadRecord {
    const delivery = decodeRecord(codec, record);
    if (isBadRecord(delivery) || isId(delivery.webhook)) return delivery;
    return { record, reason: 'undecodable', message: `the webhook's id is not 24 hex digits` };
  }
}

export interface EventFanOutParts extends UserTextParts {
  /** Epoch ms. */
  readonly clock: () => number;
  readonly codecs: Pick<Codecs, 'event' | 'delivery'>;
  readonly directory: WebhookDirectory;
}

/** An event that somebody wants. */
interface WantedEvent extends EventOfDevice {
  readonly offset: number;
  /** Epoch ms. */
  readonly appendedAtMs: number;
  readonly webhooks: readonly WebhookRecord[];
  readonly payload: PayloadEvent;
}

/**
 * Events to those who want them. A webhook that wants the events of a location together gets those of one batch
 * together.
 */
export function createEventFanOut(parts: EventFanOutParts): FanOut {
  const { codecs, directory, clock } = parts;

  return async (records, isRepeat) => {
    const bad: BadRecord[] = [];
    const wanted: WantedEvent[] = [];
    const matcherOf = createMatcherFinder(directory);
    for (const record of records) {
      const matcher = matcherOf(record.key);
      const found = matcher && wantedEvent(record, matcher, isRepeat);
      if (found === undefined) continue;
      if (isBadRecord(found)) bad.push(found);
      else wanted.push(found);
    }
    const userText = await loadUserTexts(parts, wanted);
    return {
      bad,
      chunks: chunksOf(wanted, endOf(records), (group) => madeOf(group, userText(group[0] as WantedEvent))),
    };
  };

  /** Undefined when no webhook wants it, or has had it. */
  function wantedEvent(record: LogRecord, matcher: Matcher, isRepeat: IsRepeat): WantedEvent | BadRecord | undefined {
    const event = decodeRecord(codecs.event, record);
    if (isBadRecord(event)) return event;
    if (isRepeat(event.id, record.offset)) return undefined;
    const webhooks = matcher(matchableOf(event));
    if (webhooks.length === 0) return undefined;
    const text = eventText(event);
    if (text.length > maxEventCharacters) {
      return { record, reason: 'oversized_event', message: `${text.length} characters; at most ${maxEventCharacters}` };
    }
    const payload = { id: event.id, locationId: event.locationId, orderKey: record.key, text };
    return { key: record.key, offset: record.offset, appendedAtMs: record.timestamp, event, webhooks, payload };
  }

  /** The events are of one location, or there is one. */
  function madeOf(group: readonly WantedEvent[], userText: string | undefined): MadeDelivery[] {
    const eventsOf = new Map<WebhookRecord, PayloadEvent[]>();
    for (const { webhooks, payload } of group) {
      for (const webhook of webhooks) addTo(eventsOf, webhook, payload);
    }
    const sinceMs = (group[0] as WantedEvent).appendedAtMs;
    const facts = { reason: 'event', createdAt: clock() } as const;
    return [...eventsOf].flatMap(([webhook, events]) =>
      deliveriesOf(webhook, events, userText, facts).map((delivery) => ({
        delivery,
        value: codecs.delivery.encode(delivery),
        sinceMs,
      })),
    );
  }
}

function* chunksOf(
  wanted: readonly WantedEvent[],
  endOffset: number,
  make: (group: readonly WantedEvent[]) => MadeDelivery[],
): Generator<Chunk> {
  let made: MadeDelivery[] = [];
  let start = 0;
  while (start < wanted.length) {
    let end = start + 1;
    while (end < wanted.length && areOfOneLocation(wanted[start] as WantedEvent, wanted[end] as WantedEvent)) end += 1;
    made.push(...make(wanted.slice(start, end)));
    start = end;
    if (made.length < maxChunkDeliveries || start === wanted.length) continue;
    yield { nextOffset: (wanted[start] as WantedEvent).offset, made };
    made = [];
  }
  yield { nextOffset: endOffset, made };
}

const areOfOneLocation = (a: WantedEvent, b: WantedEvent): boolean =>
  a.event.locationId !== null && a.event.locationId === b.event.locationId && a.key === b.key;

const endOf = (records: readonly LogRecord[]): number => (records.at(-1) as LogRecord).offset + 1;

/** Finds the matcher by a record's key, project/environment/device; most of a batch tend to be of one scope. */
function createMatcherFinder(directory: WebhookDirectory): (key: string) => Matcher | undefined {
  const found = new Map<string, Matcher | undefined>();
  return (key) => {
    const name = key.slice(0, key.indexOf('/', key.indexOf('/') + 1));
    if (found.has(name)) return found.get(name);
    const [project = '', environment] = name.split('/');
    const matcher = directory.matcher({ project, environment: environment as Scope['environment'] });
    found.set(name, matcher);
    return matcher;
  };
}
