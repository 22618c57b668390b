import { expect, it } from 'vitest';
import { openTestAnalytics } from './analytics.js';
import { createTestTables } from './tables.js';

it('the tables of tests keep rows whose retention has passed', async () => {
  const analytics = await openTestAnalytics();
  try {
    await createTestTables(analytics);
    await analytics.insert('locations', Buffer.from('received_at\tid\n2020-01-01 00:00:00.000\ta\n'));
    await analytics.command('OPTIMIZE TABLE locations FINAL');
    expect(await analytics.query('SELECT id FROM locations')).toEqual([{ id: 'a' }]);
  } finally {
    await analytics.close();
  }
});
