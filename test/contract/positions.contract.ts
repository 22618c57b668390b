/** The contract of every Positions. */
import { describe, expect, test } from 'vitest';
import { type BackendSite, onFreshSite } from './backend.js';

/** Defines the tests of the contract for one implementation. `site` makes a new place for each test. */
export function describePositionsContract(name: string, site: () => Promise<BackendSite>): void {
  describe(`${name}: positions`, () => {
    test('a position is 0 until it is set, separate per group, topic and partition, and survives a reopen', () =>
      onFreshSite(site, async (place) => {
        let backend = await place.open();
        expect(await backend.positions.get('analytics', 'outcomes', 0)).toEqual({ offset: 0, mark: null });
        await backend.positions.set('analytics', 'outcomes', 0, { offset: 12, mark: '11:0:5:ab' });
        await backend.positions.set('analytics', 'outcomes', 0, { offset: 5_000_000_000, mark: '4999999999:0:6:cd' });
        await backend.positions.set('webhooks', 'outcomes', 0, { offset: 2, mark: '1:0:5:ab' });
        await backend.positions.set('webhooks', 'outcomes', 0, { offset: 3, mark: null });
        await backend.close();
        backend = await place.open();
        expect(await backend.positions.get('analytics', 'outcomes', 0)).toEqual({
          offset: 5_000_000_000,
          mark: '4999999999:0:6:cd',
        });
        expect(await backend.positions.get('webhooks', 'outcomes', 0)).toEqual({ offset: 3, mark: null });
        expect(await backend.positions.get('analytics', 'events', 0)).toEqual({ offset: 0, mark: null });
        expect(await backend.positions.get('analytics', 'outcomes', 1)).toEqual({ offset: 0, mark: null });
        await backend.close();
      }));
  });
}
