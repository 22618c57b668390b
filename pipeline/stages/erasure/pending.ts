/** Finds and removes pending deliveries about erased users and events. */
import { codecs } from '../../../schemas/codecs.js';
import type { WebhookRecord } from '../../../schemas/json/webhook.js';
import type { Delivery } from '../../../schemas/records.js';
import { charactersPerTurn, createTurns } from '../../../schemas/turns.js';
import { isSameScope } from '../../catalog/scope.js';
import type { ReadModel } from '../../catalog/store/read-model.js';
import type { Scope } from '../../catalog/types.js';
import { type DeliveryPlace, type DeliveryQueue, type DeliverySource, deliverySources, type Log } from '../../ports.js';
import { type ErasedTimes, isErasedTime } from '../../records/erasure-command.js';

/** What a delivery may name. */
interface Erased extends Scope {
  /** `_id`s of user records. */
  readonly users: ReadonlySet<string>;
  /** When what each name of a user names was received. */
  readonly names: ReadonlyMap<string, ErasedTimes>;
  /** `_id`s of events. */
  readonly events: ReadonlySet<string>;
}

interface NamedUser {
  readonly _id?: string;
  readonly userId?: string;
  readonly deviceId?: string;
}

interface NamedEvent {
  /** When the server received its cause. */
  readonly actualCreatedAt: string;
  readonly user?: NamedUser;
}

interface Body {
  readonly user?: NamedUser;
  readonly event?: NamedEvent;
  readonly events?: readonly NamedEvent[];
}

/** Deliveries that are read at once. A body has up to 450 kB. */
const pageDeliveries = 32;
const nextTurn = createTurns();

type Queue = Pick<DeliveryQueue, 'waiting' | 'webhooks' | 'erase'>;

/** What the search for pending deliveries works with. */
interface PendingParts {
  readonly log: Pick<Log, 'partitions'>;
  readonly deliveries: Queue;
  readonly readModel: Pick<ReadModel, 'record'>;
}

/** The time of the delivery does not count: it may be queued after the request, about an event from before. */
function namesErased({ body }: Delivery, { users, names }: Erased): boolean {
  const { user, event, events = event ? [event] : [] } = JSON.parse(body.toString()) as Body;
  const isErasedName = (name: string, timeMs: number): boolean => {
    const times = names.get(name);
    return times !== undefined && isErasedTime(times, timeMs);
  };
  const isErased = ({ _id = '', userId = '', deviceId = '' }: NamedUser, timeMs: number): boolean =>
    users.has(_id) || [_id, userId, deviceId].some((name) => isErasedName(name, timeMs));
  return events.some((each) => {
    const receivedAtMs = Date.parse(each.actualCreatedAt);
    return [user, each.user].some((named) => named !== undefined && isErased(named, receivedAtMs));
  });
}

const isDeliveryErased = (delivery: Delivery, erased: Erased): boolean =>
  isSameScope(delivery, erased) &&
  (delivery.events.some((id) => erased.events.has(id)) || namesErased(delivery, erased));

/**
 * Removes the pending deliveries that name what is erased. Millions may be pending, so it reads only those of the
 * environment, in turns between which other work continues.
 */
export async function erasePending({ log, deliveries, readModel }: PendingParts, erased: Erased): Promise<void> {
  /** A webhook that is deleted may have been of any environment. */
  const isOfOthers = (webhook: string): boolean => {
    const record = readModel.record('webhook', webhook) as WebhookRecord | null;
    return record !== null && !isSameScope(record, erased);
  };
  for (const source of deliverySources(log)) {
    for (const { webhook } of await deliveries.webhooks(source)) {
      if (!isOfOthers(webhook)) await eraseOf(deliveries, source, webhook, erased);
    }
  }
}

async function eraseOf(queue: Queue, source: DeliverySource, webhook: string, erased: Erased): Promise<void> {
  let bytesOfTurn = 0;
  for (let after: DeliveryPlace | undefined; ; ) {
    const page = await queue.waiting(source, webhook, pageDeliveries, after);
    const found = page.filter(({ value }) => isDeliveryErased(codecs.delivery.decode(value), erased));
    if (found.length > 0) await queue.erase(source, webhook, found);
    after = page.at(-1);
    if (after === undefined || page.length < pageDeliveries) return;
    bytesOfTurn += page.reduce((bytes, { value }) => bytes + value.length, 0);
    if (bytesOfTurn < charactersPerTurn) continue;
    // The embedded queue answers at once, so that nothing else would run before the last page.
    await nextTurn();
    bytesOfTurn = 0;
  }
}
