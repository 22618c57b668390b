import { expect, it } from 'vitest';
import { openTestTables } from './analytics.js';

it('the tables of tests keep rows whose retention has passed', async () => {
  const analytics = await openTestTables();
  try {
    await analytics.insert('locations', Buffer.from('received_at\tid\n2020-01-01 00:00:00.000\ta\n'));
    await analytics.command('OPTIMIZE TABLE locations FINAL');
    expect(await analytics.query('SELECT id FROM locations')).toEqual([{ id: 'a' }]);
  } finally {
    await analytics.close();
  }
});
