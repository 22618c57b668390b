import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codecs } from '../schemas/codecs.js';
import { encodeFirstVersion } from '../schemas/testing/older-events.js';
import * as arbitrary from '../schemas/testing/records.js';
import type { Log, LogRecord } from './ports.js';
import { describeDivergence, findDivergence, markOf, positionAfter } from './positions.js';

const frame = (schemaId: number, body: string): Buffer => {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(schemaId, 1);
  return Buffer.concat([header, Buffer.from(body)]);
};
const recordAt = (offset: number, fields: Partial<LogRecord> = {}): LogRecord => ({
  key: `key-${offset}`,
  value: frame(7, `body-${offset}`),
  partition: 0,
  offset,
  timestamp: 1_000 + offset,
  leaderEpoch: 3,
  ...fields,
});

/** Returns a log of the records, which may have gaps. By default it ends after the last record. */
const logOf = (
  records: readonly LogRecord[],
  end = (records.at(-1)?.offset ?? -1) + 1,
): Pick<Log, 'read' | 'bounds'> => ({
  bounds: async () => ({ first: records[0]?.offset ?? end, end }),
  async read(_topic, _partition, offset, maxRecords) {
    const found = records.filter((each) => each.offset >= offset).slice(0, maxRecords);
    return { records: found, nextOffset: (found.at(-1)?.offset ?? Math.max(offset, end) - 1) + 1 };
  },
});
const counted = (from: number, end: number, fields: Partial<LogRecord> = {}): LogRecord[] =>
  Array.from({ length: end - from }, (_, index) => recordAt(from + index, fields));
const find = (log: Pick<Log, 'read' | 'bounds'>, position: { offset: number; mark: string | null }) =>
  findDivergence(log, 'locations', 0, position, { beyondEndMs: 0 });

describe('finds no divergence in', () => {
  test('the log of the position, however much was appended since', async () => {
    const position = positionAfter(recordAt(9));
    expect(position).toEqual({ offset: 10, mark: `9:3:1009:${position.mark!.split(':')[3]}` });
    expect(await find(logOf(counted(0, 10)), position)).toBeUndefined();
    expect(await find(logOf(counted(0, 500)), position)).toBeUndefined();
  });

  test('the log of a position whose owner stores more behind the mark', async () => {
    const mark = `${markOf(recordAt(9))}/${'0'.repeat(24)}/12`;
    expect(await find(logOf(counted(0, 20)), { offset: 10, mark })).toBeUndefined();
    const other = counted(0, 20, { timestamp: 5_000 });
    expect(await find(logOf(other), { offset: 10, mark })).toMatchObject({ position: { offset: 10 } });
  });

  test('a record whose schema has another id on the wire', async () => {
    const other = counted(0, 10).map((each) => ({ ...each, value: frame(99, each.value!.toString('utf8', 5)) }));
    expect(await find(logOf(other), positionAfter(recordAt(9)))).toBeUndefined();
  });

  // Analytics of a cluster stopped at each replacement of a node: the next release encoded the record before the
  // position in another version.
  test('a record that nodes of several releases read in several versions', async () => {
    for (const event of fc.sample(arbitrary.event, 50)) {
      const first = recordAt(9, { value: encodeFirstVersion(event) });
      const newest = recordAt(9, { value: codecs.event.encode(event) });
      const readAgain = recordAt(9, { value: codecs.event.encode(codecs.event.decode(first.value!)) });
      // What releases hash that know the first version only.
      const hash = createHash('sha1').update(first.key).update('\0').update(first.value!.subarray(5)).digest('hex');
      const mark = `9:3:1009:${hash.slice(0, 16)}`;
      for (const record of [first, newest, readAgain]) {
        expect(markOf(record)).toBe(mark);
        expect(await find(logOf([...counted(0, 9), record]), { offset: 10, mark })).toBeUndefined();
      }
    }
  });

  test('an event whose body is damaged', async () => {
    const damaged = recordAt(9, { value: frame(codecs.event.schemaId, 'no event') });
    expect(await find(logOf([...counted(0, 9), damaged]), positionAfter(damaged))).toBeUndefined();
  });

  test('a log whose records up to the position were deleted by retention', async () => {
    expect(await find(logOf(counted(10, 20)), positionAfter(recordAt(9)))).toBeUndefined();
    expect(await find(logOf(counted(50, 60)), positionAfter(recordAt(9)))).toBeUndefined();
    expect(await find(logOf([], 10), positionAfter(recordAt(9)))).toBeUndefined();
  });

  test('a log whose record before the position was compacted away', async () => {
    const log = counted(0, 20).filter(({ offset }) => ![7, 8, 9, 10].includes(offset));
    expect(await find(logOf(log), positionAfter(recordAt(9)))).toBeUndefined();
    expect(await find(logOf(counted(0, 5), 10), positionAfter(recordAt(9)))).toBeUndefined();
  });

  test('any log that reaches a position without a mark', async () => {
    expect(await find(logOf(counted(0, 10)), { offset: 10, mark: null })).toBeUndefined();
    expect(await find(logOf(counted(0, 9)), { offset: 10, mark: null })).toMatchObject({ commonEnd: 9, end: 9 });
  });

  test('a log that a release without marks has read further', async () => {
    expect(await find(logOf(counted(0, 20)), { offset: 15, mark: markOf(recordAt(9)) })).toBeUndefined();
  });
});

describe('finds the divergence in', () => {
  test('a log that ends before the position', async () => {
    const divergence = await find(logOf(counted(0, 6)), positionAfter(recordAt(9)));
    expect(divergence).toMatchObject({ first: 0, end: 6, commonEnd: 6, leaderEpoch: null });
    expect(describeDivergence(divergence!)).toBe(
      'partition 0 of topic locations is not the log that was read before: ' +
        'the stored position is offset 10 of leader epoch 3, the log ends at 6; ' +
        'the partition is halted until "fenceline repair positions" has moved the position',
    );
  });

  test('a log that has other records at the offsets of lost ones', async () => {
    const newer = counted(6, 40, { timestamp: 5_000, leaderEpoch: 4, key: 'new' });
    const divergence = await find(logOf([...counted(0, 6), ...newer]), positionAfter(recordAt(9)));
    expect(divergence).toMatchObject({ first: 0, end: 40, commonEnd: 6, leaderEpoch: 4 });
    expect(describeDivergence(divergence!)).toContain(
      'the log holds 0 to 40, with other records of leader epoch 4 from 6 on',
    );
  });

  test('such a log with restarted epochs, by timestamps', async () => {
    const newer = counted(6, 40, { timestamp: 5_000, leaderEpoch: 3, key: 'new' });
    expect(await find(logOf([...counted(0, 6), ...newer]), positionAfter(recordAt(9)))).toMatchObject({ commonEnd: 6 });
  });

  test('such a log whose leader has a slow clock, by epochs', async () => {
    const newer = counted(6, 40, { timestamp: 10, leaderEpoch: 4, key: 'new' });
    expect(await find(logOf([...counted(0, 6), ...newer]), positionAfter(recordAt(9)))).toMatchObject({ commonEnd: 6 });
  });

  test('a log with another record that cannot be dated', async () => {
    const undated = [...counted(0, 9), recordAt(9, { key: 'other' }), ...counted(10, 12)];
    const divergence = await find(logOf(undated), positionAfter(recordAt(9)));
    expect(divergence).toMatchObject({ commonEnd: null });
    expect(describeDivergence(divergence!)).toContain('with other records;');
  });

  test('a compacted log with newer records before the position', async () => {
    const newer = counted(8, 20, { timestamp: 5_000 }).filter(({ offset }) => offset !== 9);
    expect(await find(logOf([...counted(0, 8), ...newer]), positionAfter(recordAt(9)))).toMatchObject({ commonEnd: 8 });
  });
});

test('finds the end of the common history for any loss, and never a later offset', () =>
  fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 60 }),
      fc.nat(60),
      fc.nat(80),
      fc.nat(30),
      fc.constantFrom(3, 4),
      async (applied, kept, appended, retained, leaderEpoch) => {
        const common = Math.min(kept, applied);
        const old = counted(0, common);
        const newer = counted(common, common + appended, { timestamp: 9_000, leaderEpoch, key: 'new' });
        const first = Math.min(retained, common);
        const log = [...old, ...newer].slice(first);
        const end = common + appended;
        const divergence = await find(logOf(log, end), positionAfter(recordAt(applied - 1)));
        if (common === applied) expect(divergence).toBeUndefined();
        else expect(divergence).toMatchObject({ first: log.length > 0 ? first : end, end, commonEnd: common });
      },
    ),
    { numRuns: 500 },
  ));
