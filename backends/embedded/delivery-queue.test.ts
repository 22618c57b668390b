/**
 * Rules of the embedded delivery queue beyond the contract: bounds, and drops in many transactions while others write.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type DeliveryClaim, maxDeliveryBytes } from '../../pipeline/ports.js';
import { type Embedded, openEmbedded } from './embedded.js';

const source = { topic: 'events', partition: 0 } as const;
const webhook = '65f0a1b2c3d4e5f600000001';

let path = '';
let embedded: Embedded;
let claim: DeliveryClaim;

beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'fenceline-deliveries-'));
  embedded = openEmbedded({ path, partitions: 1 });
  claim = await embedded.deliveryQueue.claim(source);
});
afterEach(async () => {
  await embedded.close();
  await rm(path, { recursive: true });
});

const batch = (expectedOffset: number, values: readonly Buffer[]) => ({
  expectedOffset,
  nextOffset: expectedOffset + 1,
  deliveries: values.map((value, i) => ({ webhook, dueAtMs: i, value })),
});

const texts = (name: string, count: number): Buffer[] =>
  Array.from({ length: count }, (_, i) => Buffer.from(`${name} ${i}`));

describe('embedded delivery queue', () => {
  test('an oversized delivery rejects its batch', async () => {
    const { deliveryQueue } = embedded;
    const largest = Buffer.alloc(maxDeliveryBytes, 'x');
    await expect(deliveryQueue.add(claim, batch(0, [largest, Buffer.alloc(maxDeliveryBytes + 1)]))).rejects.toThrow(
      '1048577 bytes',
    );
    expect(await deliveryQueue.size()).toBe(0);
    expect(await deliveryQueue.add(claim, batch(0, [largest]))).toBe('committed');
    const [waiting] = await deliveryQueue.waiting(source, webhook, 1);
    expect(waiting?.value.equals(largest)).toBe(true);
  });

  test('deliveries added during a long drop stay, although they are due earlier', async () => {
    const { deliveryQueue } = embedded;
    await deliveryQueue.add(claim, batch(0, texts('old', 3_000)));
    const dropping = deliveryQueue.drop(claim, webhook);
    expect(await deliveryQueue.add(claim, batch(1, texts('new', 5)))).toBe('committed');
    expect(await dropping).toBe('committed');
    const waiting = await deliveryQueue.waiting(source, webhook, 10_000);
    expect(waiting.map(({ value }) => value.toString())).toEqual(texts('new', 5).map(String));
    expect(await deliveryQueue.size()).toBe(5);
  });

  test('a drop ends when another owner claims the source, and the size stays correct', async () => {
    const { deliveryQueue } = embedded;
    await deliveryQueue.add(claim, batch(0, texts('old', 3_000)));
    const dropping = deliveryQueue.drop(claim, webhook);
    await deliveryQueue.claim(source);
    expect(await dropping).toBe('fenced');
    const waiting = await deliveryQueue.waiting(source, webhook, 10_000);
    expect(waiting.length).toBeGreaterThan(0);
    expect(await deliveryQueue.size()).toBe(waiting.length);
  });
});
