/** Operations on a Redis Cluster: moves slots between masters, and fails over to replicas. */
import type { Redis } from 'ioredis';
import { until } from '../until.js';
import { withRedis } from './clients.js';
import type { Address } from './ports.js';

const patience = { timeoutMs: 120_000 };
const maxTakeOvers = 5;

const on = <T>({ host, port }: Address, use: (node: Redis) => Promise<T>): Promise<T> => withRedis({ host, port }, use);

/** Returns the slot of a key. */
export const slotOf = (node: Address, key: string): Promise<number> =>
  on(node, async (client) => Number(await client.call('CLUSTER', 'KEYSLOT', key)));

/** Returns the port of the master that has the slot, as the node sees it. */
export async function masterOf(node: Address, slot: number): Promise<number> {
  const ranges = (await on(node, (client) => client.call('CLUSTER', 'SLOTS'))) as [number, number, [string, number]][];
  const [, , [, port]] = ranges.find(([first, last]) => first <= slot && slot <= last)!;
  return port;
}

/** Resolves when each of the nodes sees all slots served. */
export async function wholeFor(nodes: readonly Address[]): Promise<void> {
  const isWhole = async (node: Address): Promise<boolean> =>
    String(await on(node, (client) => client.call('CLUSTER', 'INFO'))).includes('cluster_state:ok');
  await until(async () => (await Promise.all(nodes.map(isWhole))).every(Boolean), patience);
}

interface MoveOptions {
  /** Called once, when half of the slot's keys have gone: the slot is in both places for as long as that takes. */
  readonly halfway?: () => Promise<void>;
  /** Informs all masters; other nodes learn it from them. */
  readonly masters: readonly Address[];
}

/** Marks the slot as moving. Returns the id of the target. */
async function beginMove(slot: number, from: Redis, to: Redis): Promise<string> {
  const [fromId, toId] = (await Promise.all([from, to].map((node) => node.call('CLUSTER', 'MYID')))) as [
    string,
    string,
  ];
  await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId);
  await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId);
  return toId;
}

/** Runs the action while the slot is marked as moving, before its first key goes. The slot stays. */
export async function whileMoving<T>(
  slot: number,
  source: Address,
  target: Address,
  action: () => Promise<T>,
): Promise<T> {
  return on(source, (from) =>
    on(target, async (to) => {
      await beginMove(slot, from, to);
      try {
        return await action();
      } finally {
        for (const node of [to, from]) await node.call('CLUSTER', 'SETSLOT', slot, 'STABLE');
      }
    }),
  );
}

/** Moves the slot as redis-cli's reshard does, key by key. */
export async function moveSlot(
  slot: number,
  source: Address,
  target: Address,
  { halfway, masters }: MoveOptions,
): Promise<void> {
  await on(source, (from) =>
    on(target, async (to) => {
      const toId = await beginMove(slot, from, to);
      const total = Number(await from.call('CLUSTER', 'COUNTKEYSINSLOT', slot));
      for (let moved = 0; ; moved++) {
        if (moved === Math.ceil(total / 2)) await halfway?.();
        const [key] = (await from.call('CLUSTER', 'GETKEYSINSLOT', slot, 1)) as string[];
        if (key === undefined) break;
        await from.call('MIGRATE', target.host, target.port, key, 0, 10_000);
      }
      for (const node of [to, from]) await node.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
      for (const { host, port } of masters) {
        if (port === source.port || port === target.port) continue;
        await on({ host, port }, (other) => other.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId));
      }
    }),
  );
}

/** Longer than a replica tries to take over. */
const takeOverMs = 10_000;

/** Lets a replica take over from its master in order, which loses nothing. */
export async function takeOver(replica: Address): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await on(replica, (client) => client.call('CLUSTER', 'FAILOVER'));
    try {
      return await isMaster(replica, takeOverMs);
    } catch (error) {
      // On a busy machine the master may not stop in time, and the replica gives up.
      if (attempt === maxTakeOvers) throw error;
    }
  }
}

/** Resolves when the node is a master. */
export async function isMaster(node: Address, timeoutMs = patience.timeoutMs): Promise<void> {
  const isReached = async () => (await on(node, (client) => client.info('replication'))).includes('role:master');
  await until(isReached, { timeoutMs });
}

/** Resolves when the node is a replica that is up to date. */
export async function isReplica(node: Address): Promise<void> {
  await until(
    async () => (await on(node, (client) => client.info('replication'))).includes('master_link_status:up'),
    patience,
  );
}
