/** Topic `events` for tests: the real log in a temporary folder, and events to publish. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '../../../backends/embedded/embedded.js';
import { type Log, topics } from '../../../pipeline/ports.js';
import { scopeName } from '../../../pipeline/records/device-key.js';
import { codecs } from '../../../schemas/codecs.js';
import { deriveId } from '../../../schemas/ids.js';
import type { Event } from '../../../schemas/records.js';
import { exampleEvent } from '../../../schemas/testing/examples.js';

let events = 0;

/** Creates an event of about 0.5 kB. Some device ids contain slashes. */
export function eventOf(project: string, { device = 0, type = 'a' }: { device?: number; type?: string } = {}): Event {
  events += 1;
  return exampleEvent({
    id: deriveId('event', `${events}`),
    type,
    project,
    createdAt: 1_800_000_000_000 + events,
    actualCreatedAt: 1_800_000_000_500 + events,
    user: {
      id: null,
      userId: null,
      deviceId: device % 2 === 0 ? `device-${device}` : `fleet/device/${device}`,
      profile: null,
    },
    geofence: null,
    metadata: JSON.stringify({ filler: 'x'.repeat(300) }),
  });
}

/** Appends events as the pipeline publishes them: keyed by scope and device. */
export const publish = (log: Log, published: readonly Event[]): Promise<void> =>
  log.append(
    topics.events,
    published.map((event) => ({
      key: `${scopeName(event)}/${event.user?.deviceId}`,
      value: codecs.event.encode(event),
    })),
  );

/** Opens an embedded log in a temporary folder. `close` deletes it. */
export function openTopic(partitions: number) {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-topic-'));
  const { log, close } = openEmbedded({ path: folder, partitions, mapBytes: 2 ** 30 });
  return {
    log,
    publish: (...published: Event[]) => publish(log, published),
    async close() {
      await close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** An oracle: reads the events of each partition from a position on, with a naive filter. */
export const eventsFrom = (log: Log, from: readonly number[], wanted: (event: Event) => boolean): Promise<Event[][]> =>
  Promise.all(
    from.map(async (offset, partition) => {
      const { records } = await log.read(topics.events, partition, offset, 1_000_000);
      return records.map(({ value }) => codecs.event.decode(value!)).filter(wanted);
    }),
  );
