import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openEmbedded } from '../../../backends/embedded/embedded.js';
import { codecs } from '../../../schemas/codecs.js';
import { charactersPerTurn } from '../../../schemas/turns.js';
import { isoTime } from '../../../schemas/wire/common.js';
import { openReadModel } from '../../catalog/store/read-model.js';
import { scope, scopes, temporaryFolder } from '../../catalog/testing/fixtures.js';
import type { Scope } from '../../catalog/types.js';
import { type DeliveryQueue, deliverySources } from '../../ports.js';
import { webhookId, webhookRecord } from '../webhooks/testing/webhooks.js';
import { erasePending } from './pending.js';

const bodyBytes = 2_000;

function deliveryOf({ project, environment }: Scope, webhook: string, user: string) {
  const event = { actualCreatedAt: isoTime(1_000), user: { userId: user } };
  const body = JSON.stringify({ event, text: 'x'.repeat(bodyBytes) });
  const names = { id: user, webhook, project, environment, orderKey: user, events: [] };
  const value = codecs.delivery.encode({ ...names, body: Buffer.from(body), reason: 'event', createdAt: 1_000 });
  return { webhook, dueAtMs: 1_000, value };
}

// With 3.5 million pending deliveries of all projects, each pass of an erasure stopped the process for 40 seconds.
test('pending deliveries are read in turns, without those of other environments', async () => {
  const folder = temporaryFolder();
  const embedded = openEmbedded({ path: `${folder}/data`, partitions: 1 });
  const readModel = openReadModel(`${folder}/read-model`);
  onTestFinished(async () => {
    await readModel.close();
    await embedded.close();
  });
  const { deliveryQueue: queue, log } = embedded;
  const [own, others, deleted] = [1, 2, 3].map(webhookId) as [string, string, string];
  const records = [webhookRecord({ _id: own }), webhookRecord({ _id: others, ...scopes[1] })];
  await readModel.apply(
    records.map((record) => ({ kind: 'webhook', id: record._id, record })),
    2,
  );
  const source = deliverySources(log)[0]!;
  const users = Array.from({ length: 1_000 }, (_, number) => `user${number}`);
  const deliveries = [
    ...users.map((user) => deliveryOf(scope, own, user)),
    ...users.map((user) => deliveryOf(scopes[1]!, others, user)),
    deliveryOf(scope, deleted, 'user7'),
  ];
  const claim = await queue.claim(source);
  await queue.add(claim, { expectedOffset: claim.nextOffset, nextOffset: 1, deliveries });

  let turn = 0;
  const bytesOfTurns = new Map<number, number>();
  const read = new Set<string>();
  const watched: DeliveryQueue = {
    ...queue,
    async waiting(...given) {
      const page = await queue.waiting(...given);
      const bytes = page.reduce((sum, { value }) => sum + value.length, 0);
      bytesOfTurns.set(turn, (bytesOfTurns.get(turn) ?? 0) + bytes);
      read.add(given[1]);
      return page;
    },
  };
  let isDone = false;
  const names = new Map([['user7', { receivedBy: 2_000, receivedBeyond: Infinity }]]);
  const erased = { ...scope, users: new Set<string>(), names, events: new Set<string>() };
  const erasing = erasePending({ log, deliveries: watched, readModel }, erased).finally(() => {
    isDone = true;
  });
  for (; !isDone; turn++) await setImmediate();
  await erasing;
  expect(read).toEqual(new Set([own, deleted]));
  expect(Math.max(...bytesOfTurns.values())).toBeLessThan(2 * charactersPerTurn);
  expect(await queue.size()).toBe(1_999);
});
