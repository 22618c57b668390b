/** Records are applied while Redis is paused, restarts, loses changes or moves the partition. A ledger checks them. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Claim } from '../../../pipeline/ports.js';
import {
  type RedisClusterServer,
  type RedisServer,
  startRedis,
  startRedisCluster,
} from '../../../testing/services/redis.js';
import { masterOf, moveSlot, slotOf, wholeFor } from '../../../testing/services/redis-slots.js';
import type { Server } from '../../../testing/services/server.js';
import { freshRedisOptions } from './fresh-redis.js';
import { commitOf, type OpenStore, published, withStore } from './open-store.js';

const devices = 50;
const recordsAround = 300;
const commandTimeoutMs = 1_000;

/**
 * Applies records one by one before, during and after `hurt`. Like the location stage, it claims again when refused,
 * and expects the states of the store to agree with its position.
 */
async function applyThrough({ store, stateOf, published: seen }: OpenStore, hurt: () => Promise<void>): Promise<void> {
  let claim: Claim = await store.claim(0);
  let offset = 0;
  let end = Number.POSITIVE_INFINITY;
  let hurting: Promise<void> | undefined;
  while (offset < end) {
    const key = `device ${offset % devices}`;
    const before = await stateOf(key);
    if ((await store.commit(claim, commitOf(offset, offset + 1, key))) === 'committed') {
      expect(before).toBe(offset < devices ? undefined : `${offset - devices + 1}`);
      offset += 1;
    } else {
      claim = await store.claim(0);
      offset = claim.nextOffset;
    }
    if (offset === recordsAround) {
      hurting ??= hurt().finally(() => {
        end = offset + recordsAround;
      });
    }
  }
  await hurting;
  expect([...new Set(seen)]).toEqual(published(...Array.from({ length: end }, (_, i) => i + 1)));
}

async function standStill(server: Server): Promise<void> {
  await server.pause();
  // Commands fail meanwhile and are retried.
  await delay(2 * commandTimeoutMs);
  await server.resume();
}

async function dieAndReturn(server: Server): Promise<void> {
  await server.kill();
  await server.restart();
}

describe('every record is applied once and published', () => {
  let server: RedisServer;
  let cluster: RedisClusterServer;
  beforeAll(async () => {
    [server, cluster] = await Promise.all([startRedis({ appendfsync: 'always' }), startRedisCluster()]);
  });
  afterAll(() => Promise.all([server.stop(), cluster.stop()]));

  const options = { commandTimeoutMs };

  test.each([
    ['stands still', standStill],
    ['dies and returns', dieAndReturn],
  ])('while a server %s', (_what, hurt) =>
    withStore(freshRedisOptions([server], options), (open) => applyThrough(open, () => hurt(server))),
  );

  test('while the node of a cluster is paused', () =>
    withStore(freshRedisOptions(cluster.nodes, options), async (open) => {
      const { node } = await placeOf(open, cluster);
      await applyThrough(open, () => standStill(node));
    }));

  test('while the partition moves to another node of the cluster', () =>
    withStore(freshRedisOptions(cluster.nodes, options), async (open) => {
      const { node, slot } = await placeOf(open, cluster);
      // The nodes may still be synchronising with the paused one.
      await wholeFor(cluster.nodes);
      const target = cluster.nodes.find((each) => each !== node)!;
      await applyThrough(open, () => moveSlot(slot, node, target, { masters: cluster.nodes }));
      expect((await placeOf(open, cluster)).node).toBe(target);
    }));
});

/** Returns the node of the first partition. */
async function placeOf({ redis: { options } }: OpenStore, { nodes }: RedisClusterServer) {
  const slot = await slotOf(nodes[0]!, `${options.prefix}{state.0}.meta`);
  const port = await masterOf(nodes[0]!, slot);
  return { slot, node: nodes.find((node) => node.port === port)! };
}
