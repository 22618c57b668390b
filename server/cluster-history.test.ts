import { expect, test } from 'vitest';
import type { ClickHouseAnalytics } from '../backends/cluster/clickhouse/analytics.js';
import { openHistory } from './cluster-history.js';

const clickHouse = { url: 'http://user@history:8123', database: 'fenceline', requestTimeoutMs: 60_000 };

/** Returns a port whose server is away at first, then answers with `refusal`; and what happened to it. */
function refusing(refusal: Error, attemptsAway: number) {
  const happened: string[] = [];
  const port: Pick<ClickHouseAnalytics, 'connect' | 'close'> = {
    async connect() {
      happened.push('connect');
      if (happened.length <= attemptsAway) throw Object.assign(new Error('nobody listens'), { code: 'ECONNREFUSED' });
      throw refusal;
    },
    close: async () => void happened.push('close'),
  };
  return { happened, analytics: port as ClickHouseAnalytics };
}

test.each([0, 2])('a server that refuses the node after %i failures ends it, and is closed', async (attemptsAway) => {
  const { happened, analytics } = refusing(new RangeError('too old'), attemptsAway);
  const told: string[] = [];
  const onAway = (problem: string) => told.push(problem);
  const opening = openHistory({ analytics, clickHouse, onAway, onReady: () => told.push('ready') });
  await expect(opening).rejects.toThrow("ClickHouse at http://history:8123 can't be used: too old");
  expect(happened).toEqual([...Array(attemptsAway + 1).fill('connect'), 'close']);
  expect(told).toEqual(attemptsAway === 0 ? [] : ["ClickHouse at http://history:8123 can't be used: nobody listens"]);
});
