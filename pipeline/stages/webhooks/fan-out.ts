/**
 * Turns records into deliveries.
 *
 * Input: a batch of one partition of topic `events` or `deliveries`. Output: its deliveries, in chunks that are queued
 * one after the other, and the records to dead-letter.
 */
import type { Codecs } from '../../../schemas/codecs.js';
import { addTo } from '../../../schemas/groups.js';
import { isId } from '../../../schemas/ids.js';
import { maxGroupedEvents } from '../../../schemas/json/constants.js';
import type { WebhookRecord } from '../../../schemas/json/webhook.js';
import type { Delivery } from '../../../schemas/records.js';
import { eventText } from '../../../schemas/wire/event-text.js';
import type { Scope } from '../../catalog/types.js';
import type { DeliveryQueue, LogRecord, Replacement } from '../../ports.js';
import { type BadRecord, decodeRecord, isBadRecord } from '../../records/decode.js';
import {
  areOfSameLocation,
  deliveriesOf as deliveriesTo,
  maxEventCharacters,
  type PayloadEvent,
} from '../../records/deliveries.js';
import { scopeOfKey } from '../../records/device-key.js';
import { contextOf } from '../../tracing.js';
import type { NewDelivery } from './claimed-source.js';
import type { DeliveryTraces } from './delivery-traces.js';
import type { IsDuplicate } from './event-reader.js';
import { type Matcher, matchableOf, type WebhookDirectory } from './matching.js';
import { isQueued, type Queued } from './partial-position.js';
import { type EventOfDevice, loadUserTexts, type UserText, type UserTextParts } from './users.js';

/** Deliveries that are queued together with the position after their records. */
export interface Chunk {
  readonly nextOffset: number;
  /** Deliveries of records from `nextOffset` on that are queued with the chunk or before it. */
  readonly queued: Queued | null;
  readonly made: readonly NewDelivery[];
}

interface Batch {
  /** In offset order. */
  readonly bad: readonly BadRecord[];
  /** Computed lazily; the last ends where the batch ends. */
  readonly chunks: Iterable<Chunk>;
}

/** `queued`: deliveries of the records that are queued already. */
export type FanOut = (records: readonly LogRecord[], isDuplicate: IsDuplicate, queued: Queued | null) => Promise<Batch>;

/**
 * Target size of a chunk. A store writes a chunk at once and serves nobody else meanwhile. A chunk ends with a part of
 * a location, so it may be larger.
 */
const maxChunkDeliveries = 500;
/** A delivery has up to a megabyte, most of it the user. */
const maxChunkBytes = 8 * 2 ** 20;
/** Target size of a part of a location, in UTF-16 units of its payloads. Nearly all locations have one part. */
const maxPartCharacters = 8 * 2 ** 20;

interface RedeliveryParts {
  readonly codecs: Pick<Codecs, 'delivery'>;
  readonly queue: Pick<DeliveryQueue, 'replace'>;
  /** Maximum age of a queued delivery. */
  readonly deliveryRetentionMs: number;
}

/** Creates the fan-out of redeliveries: the original deliveries, which replace queued ones of the same id. */
export function createRedelivery({ codecs: { delivery: codec }, queue, deliveryRetentionMs }: RedeliveryParts): FanOut {
  return async (records) => {
    const bad: BadRecord[] = [];
    const made: NewDelivery[] = [];
    for (const record of records) {
      const delivery = decodeDelivery(record);
      if (isBadRecord(delivery)) bad.push(delivery);
      else made.push({ delivery, value: record.value as Buffer, appendedAtMs: record.timestamp });
    }
    // Replacements are written before the deliveries are queued: a crash in between reads the same records again.
    await replaceOlder(made);
    return { bad, chunks: [{ nextOffset: endOf(records), queued: null, made }] };
  };

  async function replaceOlder(made: readonly NewDelivery[]): Promise<void> {
    const byWebhook = new Map<string, Replacement[]>();
    for (const { delivery } of made) {
      addTo(byWebhook, delivery.webhook, { delivery: delivery.id, createdAtMs: delivery.createdAt });
    }
    for (const [webhook, replacements] of byWebhook) await queue.replace(webhook, replacements, deliveryRetentionMs);
  }

  function decodeDelivery(record: LogRecord): Delivery | BadRecord {
    const delivery = decodeRecord(codec, record);
    if (isBadRecord(delivery) || isId(delivery.webhook)) return delivery;
    return { record, reason: 'undecodable', message: `the webhook's id is not 24 hex digits` };
  }
}

interface EventFanOutParts extends UserTextParts {
  /** Epoch ms. */
  readonly clock: () => number;
  readonly codecs: Pick<Codecs, 'event' | 'delivery'>;
  readonly directory: WebhookDirectory;
  readonly traces?: Pick<DeliveryTraces, 'keep'> | undefined;
}

/** An event that at least one webhook wants. */
interface WantedEvent extends EventOfDevice {
  readonly offset: number;
  /** Epoch ms. */
  readonly appendedAtMs: number;
  readonly webhooks: readonly WebhookRecord[];
  readonly payload: PayloadEvent;
  /** Trace context of its record. */
  readonly traceparent: string | undefined;
}

/**
 * Creates the fan-out of events to the webhooks that want them. A webhook with grouped delivery gets the events of a
 * location within a batch together.
 */
export function createEventFanOut(parts: EventFanOutParts): FanOut {
  const { codecs, directory, clock, traces } = parts;

  return async (records, isDuplicate, queued) => {
    const bad: BadRecord[] = [];
    const wanted: WantedEvent[] = [];
    const matcherOf = createMatcherLookup(directory);
    for (const record of records) {
      const matcher = matcherOf(record.key);
      const found = matcher && wantedEvent(record, matcher, isDuplicate, queued);
      if (found === undefined) continue;
      if (isBadRecord(found)) bad.push(found);
      else wanted.push(found);
    }
    const userText = await loadUserTexts(parts, wanted);
    return { bad, chunks: chunksOf(partsOf(wanted, userText, queued), endOf(records), piecesOf) };
  };

  /** Returns undefined when no webhook wants the event any more, or the event is a duplicate. */
  function wantedEvent(
    record: LogRecord,
    matcher: Matcher,
    isDuplicate: IsDuplicate,
    queued: Queued | null,
  ): WantedEvent | BadRecord | undefined {
    const event = decodeRecord(codecs.event, record);
    if (isBadRecord(event)) return event;
    if (isDuplicate(event.id, record.offset)) return undefined;
    const webhooks = matcher(matchableOf(event)).filter(({ _id }) => !isQueued(queued, record.offset, _id));
    if (webhooks.length === 0) return undefined;
    const text = eventText(event);
    if (text.length > maxEventCharacters) {
      return { record, reason: 'oversized_event', message: `${text.length} characters; at most ${maxEventCharacters}` };
    }
    const payload = { id: event.id, locationId: event.locationId, orderKey: record.key, text };
    const { key, offset, timestamp: appendedAtMs } = record;
    return { key, offset, appendedAtMs, event, webhooks, payload, traceparent: traces && contextOf(record) };
  }

  /** Makes the deliveries of a part, in pieces if there are too many for one write. */
  function* piecesOf({ events: ofPart, userText, isLarge }: Part): Generator<Piece> {
    const eventsOf = new Map<WebhookRecord, PayloadEvent[]>();
    for (const { webhooks, payload } of ofPart) {
      for (const webhook of webhooks) addTo(eventsOf, webhook, payload);
    }
    const { appendedAtMs, traceparent } = ofPart[0] as WantedEvent;
    const fields = { reason: 'event', createdAt: clock() } as const;
    const make = ([webhook, events]: [WebhookRecord, PayloadEvent[]]): NewDelivery[] =>
      deliveriesTo(webhook, events, userText, fields).map((delivery) => {
        if (traceparent !== undefined) traces?.keep(delivery.id, traceparent);
        return { delivery, value: codecs.delivery.encode(delivery), appendedAtMs };
      });
    if (!isLarge) {
      yield { made: [...eventsOf].flatMap(make), queued: null };
      return;
    }
    const untilOffset = (ofPart.at(-1) as WantedEvent).offset + 1;
    const byWebhook = [...eventsOf].sort(([a], [b]) => (a._id < b._id ? -1 : 1));
    let made: NewDelivery[] = [];
    for (const [index, each] of byWebhook.entries()) {
      made.push(...make(each));
      const isLast = index + 1 === byWebhook.length;
      if (!isLast && bytesOf(made) < maxChunkBytes) continue;
      yield { made, queued: isLast ? null : { webhook: each[0]._id, untilOffset } };
      made = [];
    }
  }
}

/** Deliveries of a part that are queued together. */
interface Piece {
  readonly made: readonly NewDelivery[];
  /** Null: those of the whole part are queued. */
  readonly queued: Queued | null;
}

/** Events of one location, in order, that become deliveries together; or one event without a location. */
interface Part {
  readonly events: readonly WantedEvent[];
  /** The user of all of them, as JSON. */
  readonly userText: string | undefined;
  /** Too many webhooks want them for one write. */
  readonly isLarge: boolean;
}

/** @param queued its events are a part, as they were when some of their deliveries were queued. */
function* partsOf(wanted: readonly WantedEvent[], userText: UserText, queued: Queued | null): Generator<Part> {
  const belongTogether = (first: WantedEvent, other: WantedEvent): boolean =>
    areOfSameLocation(first.payload, other.payload) &&
    !(queued !== null && isWithin(queued, first) && !isWithin(queued, other));
  let start = 0;
  while (start < wanted.length) {
    let end = start + 1;
    while (end < wanted.length && belongTogether(wanted[start] as WantedEvent, wanted[end] as WantedEvent)) end += 1;
    const events = wanted.slice(start, end);
    const text = userText(wanted[start] as WantedEvent);
    // The events of a part that was begun stay together, whatever their user has now.
    if (queued !== null && isWithin(queued, events[0] as WantedEvent)) yield { events, userText: text, isLarge: true };
    else yield* partsOfLocation(events, text);
    start = end;
  }
}

const isWithin = ({ untilOffset }: Queued, { offset }: WantedEvent): boolean => offset < untilOffset;

/**
 * Splits a location whose payloads are too large to be held at once. If they may be grouped, splits behind a full
 * group, so that a webhook that wants all events gets the same groups as without a split.
 */
function* partsOfLocation(events: readonly WantedEvent[], userText: string | undefined): Generator<Part> {
  const isGrouped = events.some(({ webhooks }) => webhooks.some(({ delivery }) => delivery === 'grouped'));
  const eventsPerGroup = isGrouped ? maxGroupedEvents : 1;
  let start = 0;
  let characters = 0;
  for (const [index, { webhooks, payload }] of events.entries()) {
    const end = index + 1;
    characters += webhooks.length * (payload.text.length + (userText?.length ?? 0));
    const isFull = characters >= maxPartCharacters && (end - start) % eventsPerGroup === 0;
    if (!isFull && end < events.length) continue;
    yield { events: events.slice(start, end), userText, isLarge: characters >= 2 * maxPartCharacters };
    start = end;
    characters = 0;
  }
}

/** Each chunk but the last ends before the first event of the next, and the last ends where the batch ends. */
function* chunksOf(
  parts: Iterable<Part>,
  endOffset: number,
  piecesOf: (part: Part) => Iterable<Piece>,
): Generator<Chunk> {
  let made: NewDelivery[] = [];
  let bytes = 0;
  for (const part of parts) {
    const { offset } = part.events[0] as WantedEvent;
    if (made.length >= maxChunkDeliveries || bytes >= maxChunkBytes) {
      yield { nextOffset: offset, queued: null, made };
      made = [];
      bytes = 0;
    }
    for (const piece of piecesOf(part)) {
      made.push(...piece.made);
      bytes += bytesOf(piece.made);
      if (piece.queued === null) continue;
      yield { nextOffset: offset, queued: piece.queued, made };
      made = [];
      bytes = 0;
    }
  }
  yield { nextOffset: endOffset, queued: null, made };
}

const bytesOf = (made: readonly NewDelivery[]): number => made.reduce((sum, { value }) => sum + value.length, 0);

const endOf = (records: readonly LogRecord[]): number => (records.at(-1) as LogRecord).offset + 1;

/** Returns a cached lookup of the matcher by record key (project/environment/device). */
function createMatcherLookup(directory: WebhookDirectory): (key: string) => Matcher | undefined {
  const found = new Map<string, Matcher | undefined>();
  return (key) => {
    const name = scopeOfKey(key);
    if (found.has(name)) return found.get(name);
    const [project = '', environment] = name.split('/');
    const matcher = directory.matcher({ project, environment: environment as Scope['environment'] });
    found.set(name, matcher);
    return matcher;
  };
}
