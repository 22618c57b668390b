/** Finds and removes pending deliveries about erased users and events. */
import { codecs } from '../../../schemas/codecs.js';
import type { Delivery } from '../../../schemas/records.js';
import { type DeliveryPlace, type DeliveryQueue, type DeliverySource, deliverySources, type Log } from '../../ports.js';
import { type ErasedTimes, isErasedTime } from '../../records/erasure-command.js';

/** What a delivery may name. */
export interface Erased {
  readonly project: string;
  readonly environment: string;
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

interface Body {
  readonly user?: NamedUser;
  readonly event?: { readonly user?: NamedUser };
  readonly events?: readonly { readonly user?: NamedUser }[];
}

const pageDeliveries = 200;

function namesErased({ body, createdAt }: Delivery, { users, names }: Erased): boolean {
  const { user, event, events = [] } = JSON.parse(body.toString()) as Body;
  const isErasedName = (name: string): boolean => {
    const times = names.get(name);
    return times !== undefined && isErasedTime(times, createdAt);
  };
  const isErased = ({ _id = '', userId = '', deviceId = '' }: NamedUser = {}): boolean =>
    users.has(_id) || [_id, userId, deviceId].some(isErasedName);
  return isErased(user) || isErased(event?.user) || events.some((each) => isErased(each.user));
}

const isDeliveryErased = (delivery: Delivery, erased: Erased): boolean =>
  delivery.project === erased.project &&
  delivery.environment === erased.environment &&
  (delivery.events.some((id) => erased.events.has(id)) || namesErased(delivery, erased));

/** Removes the pending deliveries that name what is erased. Returns their number. */
export async function erasePending(
  log: Pick<Log, 'partitions'>,
  queue: Pick<DeliveryQueue, 'waiting' | 'webhooks' | 'erase'>,
  erased: Erased,
): Promise<number> {
  let count = 0;
  for (const source of deliverySources(log)) {
    for (const { webhook } of await queue.webhooks(source)) count += await eraseOf(queue, source, webhook, erased);
  }
  return count;
}

async function eraseOf(
  queue: Pick<DeliveryQueue, 'waiting' | 'erase'>,
  source: DeliverySource,
  webhook: string,
  erased: Erased,
): Promise<number> {
  let count = 0;
  for (let after: DeliveryPlace | undefined; ; ) {
    const page = await queue.waiting(source, webhook, pageDeliveries, after);
    const found = page.filter(({ value }) => isDeliveryErased(codecs.delivery.decode(value), erased));
    if (found.length > 0) await queue.erase(source, webhook, found);
    count += found.length;
    after = page.at(-1);
    if (after === undefined || page.length < pageDeliveries) return count;
  }
}
