/** Records of this folder's tests: valid in every field, with the fields of interest on top. */
import { type Log, topics } from '../../../pipeline/ports.js';
import { codecs } from '../../../schemas/codecs.js';
import { deriveId } from '../../../schemas/ids.js';
import type { Attempt, Delivery, Event, EventGeofence } from '../../../schemas/records.js';
import { exampleEvent, exampleEventGeofence } from '../../../schemas/testing/examples.js';

/** Yesterday: the table forgets what is old. */
export const startMs = Math.floor(Date.now() / 1_000 - 86_400) * 1_000;

/** Returns a record of topic `deliveries` with defaults for what a test does not give. */
export const deliveryRecord = (fields: Partial<Delivery> & Pick<Delivery, 'webhook' | 'project'>): Delivery => ({
  id: deriveId('delivery', 'x'),
  environment: 'test',
  orderKey: 'device',
  events: [deriveId('event', 'x')],
  body: Buffer.from('{"event":{}}'),
  reason: 'event',
  createdAt: startMs,
  ...fields,
});

/** Returns a record of topic `attempts` with defaults for what a test does not give. */
export const attemptRecord = (fields: Partial<Attempt> & Pick<Attempt, 'delivery'>): Attempt => ({
  id: deriveId('attempt', 'x'),
  attempt: 1,
  at: startMs,
  duration_ms: 12.5,
  url: 'https://example.com/',
  result: 'delivered',
  message: null,
  state: 'delivered',
  nextAttemptAt: null,
  status: 200,
  responseHeaders: '{"content-type":"text/plain"}',
  responseBody: Buffer.from('thanks'),
  ...fields,
});

type GeofenceEvent = Omit<Partial<Event>, 'geofence'> &
  Pick<Event, 'project'> & { readonly geofence?: Partial<EventGeofence> };

/** Returns an event in a geofence with defaults for what a test does not give. */
export const eventRecord = ({ geofence, ...fields }: GeofenceEvent): Event =>
  exampleEvent({
    createdAt: startMs,
    actualCreatedAt: startMs,
    user: { id: deriveId('user', 'x'), userId: 'user', deviceId: 'device', profile: null },
    geofence: exampleEventGeofence(geofence),
    ...fields,
  });

/** Everything on topic `deliveries` for this webhook, in order. */
export async function deliveriesTo(log: Log, webhook: string): Promise<Delivery[]> {
  const partition = log.partitionOf(topics.deliveries, webhook);
  const { first, end } = await log.bounds(topics.deliveries, partition);
  const { records } = await log.read(topics.deliveries, partition, first, Math.max(1, end - first));
  return records.filter(({ key }) => key === webhook).map(({ value }) => codecs.delivery.decode(value!));
}
