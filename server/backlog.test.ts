import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openEmbedded } from '../backends/embedded/embedded.js';
import { topics } from '../pipeline/ports.js';
import { newAppliedOffsets, recordingApplied, sharedProgress, sum } from './backlog.js';
import { createPacing } from './pacing.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-backlog-'));
const { log, stateStore, close } = openEmbedded({ path: folder, partitions: 2 });
afterAll(async () => {
  await close();
  rmSync(folder, { recursive: true, force: true });
});

describe('the backlog', () => {
  const applied = newAppliedOffsets(2);
  const states = recordingApplied(stateStore, applied);
  const progress = sharedProgress(log, applied);
  const waiting = async () => sum((await progress()).waitingRecords);
  const records = Array.from({ length: 100 }, (_, index) => ({ key: `device-${index}`, value: Buffer.from('x') }));
  const commit = async (partition: number) => {
    const claim = await states.claim(partition);
    const { end } = await log.bounds(topics.locations, partition);
    const moved = { expectedOffset: claim.nextOffset, nextOffset: end, states: new Map(), publish: [] };
    return states.commit(claim, moved);
  };

  test('is what was appended and not committed, in all partitions', async () => {
    await log.append(topics.locations, records);
    expect(await waiting()).toBe(100);
    expect(await commit(0)).toBe('committed');
    expect(await waiting()).toBe((await log.bounds(topics.locations, 1)).end);
    await commit(1);
    expect(await waiting()).toBe(0);
  });

  test('delays uploads until it is small enough, and a refused commit does not reduce it', async () => {
    await log.append(topics.locations, records);
    const fenced = await states.claim(0);
    await stateStore.claim(0);
    const refused = {
      expectedOffset: fenced.nextOffset,
      nextOffset: fenced.nextOffset + 1,
      states: new Map(),
      publish: [],
    };
    expect(await states.commit(fenced, refused)).toBe('fenced');
    expect(await waiting()).toBe(100);

    let isThrough = false;
    const paced = createPacing(progress, 99)().then(() => {
      isThrough = true;
    });
    await commit(0);
    await paced;
    expect(isThrough).toBe(true);
    const leaving = new AbortController();
    const left = createPacing(progress, 0)(leaving.signal);
    leaving.abort();
    await expect(left).rejects.toMatchObject({ name: 'AbortError' });
    expect(await waiting()).toBeLessThan(100);
  });
});
