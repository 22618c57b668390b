import { expect, test } from 'vitest';
import { onFreshSite, readTopic, record, textOf } from '../../contract/backend.js';
import { describeStateStoreContract } from '../../contract/state-store.contract.js';
import { clusterSite } from '../site.js';

describeStateStoreContract('Redis', clusterSite, { numRuns: 15 });
describeStateStoreContract('Redis Cluster', () => clusterSite({ redis: 'cluster' }), { numRuns: 15 });

test('records that a killed owner had published are not published again, and the others are', () =>
  onFreshSite(clusterSite, async (place) => {
    const outcomes = [record('a', 'outcome 1'), record('b', 'outcome 2')];
    const events = [record('a', 'event 1'), record('b', 'event 2')];
    const killed = await place.open((publish) => async (topic, records) => {
      if (topic !== 'events') throw new Error('killed');
      await publish(topic, records);
    });
    const publish = [
      { topic: 'events' as const, records: events },
      { topic: 'outcomes' as const, records: outcomes },
    ];
    const commit = { expectedOffset: 0, nextOffset: 2, states: new Map(), publish };
    await expect(killed.stateStore.commit(await killed.stateStore.claim(0), commit)).rejects.toThrow('killed');
    await killed.close();

    const { stateStore, log, close } = await place.open();
    for (let claims = 0; claims < 2; claims++) expect((await stateStore.claim(0)).nextOffset).toBe(2);
    for (const { topic, records } of publish) {
      const found = (await readTopic(log, topic)).flat().map(textOf);
      expect(found.toSorted()).toEqual(records.map(({ value }) => `${value}`));
    }
    await close();
  }));
