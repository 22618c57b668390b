/** What every Positions promises. */
import { describe, expect, test } from 'vitest';
import { type BackendSite, onFreshSite } from './backend.js';

export function describePositionsContract(name: string, site: () => Promise<BackendSite>): void {
  describe(`${name}: positions`, () => {
    test('a position is 0 until it is set, apart by group, topic and partition, and there after a reopen', () =>
      onFreshSite(site, async (place) => {
        let backend = await place.open();
        expect(await backend.positions.get('analytics', 'outcomes', 0)).toBe(0);
        await backend.positions.set('analytics', 'outcomes', 0, 12);
        await backend.positions.set('analytics', 'outcomes', 0, 5_000_000_000);
        await backend.positions.set('webhooks', 'outcomes', 0, 3);
        await backend.close();
        backend = await place.open();
        expect(await backend.positions.get('analytics', 'outcomes', 0)).toBe(5_000_000_000);
        expect(await backend.positions.get('webhooks', 'outcomes', 0)).toBe(3);
        expect(await backend.positions.get('analytics', 'events', 0)).toBe(0);
        expect(await backend.positions.get('analytics', 'outcomes', 1)).toBe(0);
        await backend.close();
      }));
  });
}
