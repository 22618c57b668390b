import { expect, test } from 'vitest';
import { UsageError } from '../command.js';
import { run } from './demo.js';

// A billion devices filled the memory, and the killed demo left its server running. 1e99 seconds ended at once.
test.each([
  [{ devices: '1e9' }, '--devices must be a whole number from 1 to 100000'],
  [{ rate: '20000' }, '--rate must be a whole number from 1 to 10000'],
  [{ seconds: '1e99' }, '--seconds must be a whole number from 1 to 2000000'],
  [{ seconds: '0' }, '--seconds must be a whole number from 1 to 2000000'],
  [{ seconds: 'ten' }, '--seconds must be a whole number from 1 to 2000000'],
])('refuses %j before it starts a server', async (values, message) => {
  await expect(run(values, [])).rejects.toEqual(new UsageError(message));
});
