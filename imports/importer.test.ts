/** Imports of CSV files: what is applied, what is refused, and what the record says. */
import { describe, expect, it } from 'vitest';
import { newScope, useWorkbench } from './testing/fixtures.js';

const bench = useWorkbench();

const header = 'description,type,tag,externalId,coordinates,radius';
const shop = (name: string, more = '100') => `Shop ${name},circle,store,${name},"[10.5,50.25]",${more}`;
const file = (...lines: string[]) => [header, ...lines].join('\n');
const stored = (scope: ReturnType<typeof newScope>) =>
  bench.readModel.geofences({ ...scope, orderBy: 'createdAt', limit: 1_000 }).items;

describe('an import', () => {
  it('creates a geofence for each row, with the rules of the API', async () => {
    const scope = newScope();
    const result = await bench.import(scope, file(shop('a'), shop('b')));
    expect(result).toMatchObject({ status: 'completed', rows: 2, created: 2, rejected: 0, lastLine: 3 });
    expect(stored(scope).map(({ externalId, radius, timeZone }) => [externalId, radius, timeZone])).toEqual(
      expect.arrayContaining([
        ['a', 100, 'Europe/Berlin'],
        ['b', 100, 'Europe/Berlin'],
      ]),
    );
  });

  it('changes nothing when it is repeated', async () => {
    const scope = newScope();
    await bench.import(scope, file(shop('a'), shop('b')));
    const before = stored(scope);
    const result = await bench.import(scope, file(shop('a'), shop('b')));
    expect(result).toMatchObject({ status: 'completed', created: 0, updated: 0, unchanged: 2 });
    expect(stored(scope)).toEqual(before);
  });

  it('applies the good rows and reports the bad ones', async () => {
    const scope = newScope();
    const result = await bench.import(scope, file(shop('a'), shop('b', '5'), shop('c')));
    expect(result).toMatchObject({ status: 'completed', created: 2, rejected: 1 });
    expect(result.rejections).toEqual([
      { line: 3, column: 'radius', value: '5', rule: 'must be a number from 10 to 10000 metres' },
    ]);
  });
});
