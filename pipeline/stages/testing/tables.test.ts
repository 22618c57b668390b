import { expect, it } from 'vitest';
import { namedRows } from '../../../schemas/testing/rows.js';
import { openTestAnalytics } from './analytics.js';
import { createTestTables } from './tables.js';

it('the tables of tests keep rows whose retention has passed', async () => {
  const analytics = await openTestAnalytics();
  try {
    await createTestTables(analytics);
    await analytics.insert('locations', namedRows({ received_at: new Date('2020-01-01'), id: 'a' }));
    await analytics.command('OPTIMIZE TABLE locations FINAL');
    expect(await analytics.query('SELECT id FROM locations')).toEqual([{ id: 'a' }]);
  } finally {
    await analytics.close();
  }
});
