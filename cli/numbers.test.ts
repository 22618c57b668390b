import { describe, expect, test } from 'vitest';
import { UsageError } from './command.js';
import { run as repair } from './commands/repair.js';
import { run as repartition } from './commands/repartition.js';
import { boundsOf } from './commands/roads.js';
import { run as size } from './commands/size.js';
import { decimal, wholeNumber } from './numbers.js';

describe('a number of an option', () => {
  test.each([
    ['0.5', 0.5],
    ['10e6', 10e6],
    ['+1', 1],
    [' 2 ', 2],
  ])('may be %j', (text, number) => expect(decimal('every', text, { least: 0, most: 1e9 })).toBe(number));

  test.each(['0x10', '0b1', 'Infinity', 'NaN', '', ' ', '1,5', '1_000', 'ten', '1e300', '-1', '1e999'])(
    'is not %j',
    (text) =>
      expect(() => decimal('every', text, { least: 0, most: 1e9 })).toThrow(
        new UsageError('--every must be a number from 0 to 1000000000'),
      ),
  );

  test.each(['2.5', '0x10', '', '1e17'])('that must be whole is not %j', (text) =>
    expect(() => wholeNumber('replicas', text, { least: 1, most: 100 })).toThrow(
      new UsageError('--replicas must be a whole number from 1 to 100'),
    ),
  );
});

describe('the commands read their numbers so', () => {
  // Some were estimated as NaN B, and others as if they were 16 or 2.5 replicas.
  test.each([
    ['devices', '1e300', '--devices must be a whole number from 1 to 1000000000000'],
    ['devices', '0x10', '--devices must be a whole number from 1 to 1000000000000'],
    ['every', '0', '--every must be a number from 0.001 to 31536000'],
    ['replicas', '2.5', '--replicas must be a whole number from 1 to 100'],
    ['api-nodes', '1.5', '--api-nodes must be a whole number from 1 to 10000'],
    ['event-days', '1e300', '--event-days must be a number from 0 to 36500'],
  ])('size: --%s %s', (option, text, message) =>
    expect(size({ devices: '1', [option]: text }, [])).rejects.toEqual(new UsageError(message)),
  );

  test.each(['0x30', '48.5', '0', ' '])('repartition: --partitions %j', (partitions) =>
    expect(repartition({ partitions }, [])).rejects.toEqual(
      new UsageError('--partitions must be a whole number from 1 to 1024'),
    ),
  );

  test.each([
    [{ partition: '0x1', offset: '0' }, '--partition must be a whole number from 0 to 1023'],
    // It was read as 0.
    [{ partition: ' ', offset: '0' }, '--partition must be a whole number from 0 to 1023'],
    [{ partition: '0', offset: '1e300' }, '--offset must be a whole number from 0 to 9007199254740991'],
    [{ partition: '0' }, '--topic, --partition and --offset are required together'],
  ])('repair: %j', (values, message) =>
    expect(repair({ topic: 'locations', ...values }, ['positions'])).rejects.toEqual(new UsageError(message)),
  );

  test('roads takes no empty bound as 0', () => {
    expect(boundsOf('11.1,43.7,11.4,43.9')).toEqual([11.1, 43.7, 11.4, 43.9]);
    for (const text of ['1,,3,4', '0x1,0x2,0x3,0x4', '1,2,3', '11.4,43.7,11.1,43.9', '']) {
      const rule = 'must be west,south,east,north in degrees, such as 11.1,43.7,11.4,43.9';
      expect(() => boundsOf(text)).toThrow(new UsageError(`--bounds ${rule}, not ${text}`));
    }
  });
});
