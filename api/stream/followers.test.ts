/**
 * The tailer could not start during an outage of Kafka. Its failure was kept until all followers had left, and those
 * that it had refused never left: streams and polls failed, at last with "100 streams are open with this key".
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PortError } from '../../pipeline/errors.js';
import type { Log } from '../../pipeline/ports.js';
import { createFollowers } from './followers.js';
import { openTopic } from './testing/topic.js';

let topic: ReturnType<typeof openTopic>;
beforeAll(() => {
  topic = openTopic(2);
});
afterAll(() => topic.close());

const bounds = { maxFollowers: 5, maxFollowersPerProject: 5, maxFollowersPerKey: 3 };

/** The log of a topic, whose bounds cannot be read during an outage. */
function interruptible() {
  const outage = { isOn: false };
  const log: Log = {
    ...topic.log,
    async bounds(...parameters) {
      if (outage.isOn) throw new PortError('unavailable', 'Kafka is away');
      return topic.log.bounds(...parameters);
    },
  };
  return { log, outage };
}

it('an outage refuses those who join during it, and nobody after it', async () => {
  const { log, outage } = interruptible();
  let open = 0;
  const followers = createFollowers(log, bounds, (change) => {
    open += change;
  });
  outage.isOn = true;
  const together = await Promise.allSettled(['key', 'key', 'other'].map((key) => followers.join('project', key)));
  expect(together.map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
  for (let attempt = 1; attempt <= 10; attempt++)
    await expect(followers.join('project', 'key')).rejects.toThrow('Kafka is away');
  expect(open).toBe(0);
  outage.isOn = false;
  const members = await Promise.all(['key', 'key', 'key'].map((key) => followers.join('project', key)));
  expect(open).toBe(3);
  for (const member of members) member.leave();
  expect(open).toBe(0);
});

it('those who follow already keep their tailer, and the next ones share it', async () => {
  const { log, outage } = interruptible();
  const followers = createFollowers(log, bounds);
  const first = await followers.join('project', 'key');
  outage.isOn = true;
  const second = await followers.join('project', 'key');
  expect(second.tailer).toBe(first.tailer);
  first.leave();
  second.leave();
});
