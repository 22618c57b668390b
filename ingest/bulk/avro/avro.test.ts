import { once } from 'node:events';
import avro from 'avsc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { locationType } from '../../../schemas/codecs.js';
import type { Location } from '../../../schemas/records.js';
import { exampleDetails } from '../../../schemas/testing/examples.js';
import { readBulkLocation } from '../locations.js';
import { avroRecords } from './container.js';
import { trackFieldsOf } from './fields.js';
import { BrokenAvro, Cursor, createAvroReader } from './reader.js';

const recordSchema = {
  type: 'record',
  name: 'Everything',
  namespace: 'a.b',
  fields: [
    { name: 'flag', type: 'boolean' },
    { name: 'whole', type: 'long' },
    { name: 'part', type: 'double' },
    { name: 'single', type: 'float' },
    { name: 'text', type: 'string' },
    { name: 'raw', type: 'bytes' },
    { name: 'choice', type: ['null', 'string', { type: 'enum', name: 'Colour', symbols: ['red', 'green'] }, 'int'] },
    { name: 'again', type: 'Colour' },
    { name: 'full', type: 'a.b.Colour' },
    { name: 'mark', type: { type: 'fixed', name: 'Mark', size: 3 } },
    {
      name: 'list',
      type: { type: 'array', items: { type: 'record', name: 'Item', fields: [{ name: 'n', type: 'int' }] } },
    },
    { name: 'table', type: { type: 'map', values: ['null', 'double'] } },
    { name: 'when', type: { type: 'long', logicalType: 'timestamp-millis' } },
  ],
} as const;
// biome-ignore lint/suspicious/noExplicitAny: avsc's schema types don't take constants
const everything = avro.Type.forSchema(recordSchema as any, { wrapUnions: 'always' });

const long = fc.integer({ min: -(2 ** 51), max: 2 ** 51 });
const colour = fc.constantFrom('red', 'green');
const value = fc.record({
  flag: fc.boolean(),
  whole: long,
  part: fc.double({ noNaN: true }),
  single: fc.float({ noNaN: true }),
  text: fc.string({ unit: 'grapheme' }),
  raw: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  choice: fc.oneof(
    fc.constant(null),
    fc.string().map((string) => ({ string })),
    colour.map((name) => ({ 'a.b.Colour': name })),
    fc.integer().map((int) => ({ int })),
  ),
  again: colour,
  full: colour,
  mark: fc.uint8Array({ minLength: 3, maxLength: 3 }).map((bytes) => Buffer.from(bytes)),
  list: fc.array(fc.record({ n: fc.integer() })),
  table: fc.dictionary(
    fc.string(),
    fc.option(
      fc.double({ noNaN: true }).map((double) => ({ double })),
      { nil: null },
    ),
  ),
  when: long,
});

const isObject = (item: unknown): item is object => typeof item === 'object' && item !== null;
/** Values as this reader gives them: unions bare, bytes as buffers. */
function bare(item: unknown): unknown {
  if (Buffer.isBuffer(item) || !isObject(item)) return item;
  if (Array.isArray(item)) return item.map(bare);
  return Object.fromEntries(Object.entries(item).map(([name, inner]) => [name, bare(inner)]));
}
const unionValue = (wrapped: unknown): unknown => (isObject(wrapped) ? Object.values(wrapped)[0] : wrapped);
const expected = (given: Record<string, unknown>) => ({
  ...given,
  choice: unionValue(given.choice),
  table: Object.fromEntries(Object.entries(given.table as object).map(([name, inner]) => [name, unionValue(inner)])),
});

describe('the reader', () => {
  const read = createAvroReader(recordSchema);

  it('reads what the library writes', () => {
    fc.assert(
      fc.property(value, (given) => {
        const cursor = new Cursor(everything.toBuffer(given));
        expect(bare(read(cursor))).toEqual(expected(given));
        expect(cursor.left).toBe(0);
      }),
    );
  });

  it('ends with the bytes, for any content', () => {
    fc.assert(
      fc.property(
        value,
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 4 }),
        fc.nat(),
        (given, edits, cut) => {
          const bytes = everything.toBuffer(given);
          for (const [at, byte] of edits) bytes[at % bytes.length] = byte;
          try {
            read(new Cursor(bytes.subarray(0, cut % (bytes.length + 1))));
          } catch (error) {
            expect(error).toBeInstanceOf(BrokenAvro);
          }
        },
      ),
    );
  });

  it.each([null, 7, 'unknown', {}, { type: 'record', name: 'x' }, { type: 'array' }, ['null', 'Missing']])(
    'refuses the schema %j',
    (schema) => {
      expect(() => createAvroReader(schema)).toThrow(BrokenAvro);
    },
  );

  // Spark, Flink and BigQuery write times in microseconds. All their locations were refused for the year 58,000.
  it.each([
    ['timestamp-micros', 1_767_225_600_123_456n],
    ['local-timestamp-micros', 1_767_225_600_123_999n],
    ['timestamp-nanos', 1_767_225_600_123_456_789n],
    ['local-timestamp-nanos', 1_767_225_600_123_456_789n],
    ['timestamp-millis', 1_767_225_600_123n],
    ['unknown', 1_767_225_600_123n],
  ])('reads %s in milliseconds', (logicalType, time) => {
    const bytes: number[] = [];
    for (let rest = time * 2n; bytes.length === 0 || rest > 0n; rest >>= 7n)
      bytes.push(Number(rest & 127n) | (rest > 127n ? 128 : 0));
    const read = createAvroReader(['null', { type: 'long', logicalType }]);
    expect(read(new Cursor(Buffer.from([2, ...bytes])))).toBe(1_767_225_600_123);
  });

  it('takes a name with a dot as whole, whatever namespace is given beside it', () => {
    const colour = { type: 'enum', name: 'Colour', symbols: ['red', 'green'] };
    const fields = [
      { name: 'one', type: colour },
      { name: 'again', type: 'a.b.Colour' },
    ];
    const read = createAvroReader({ type: 'record', name: 'a.b.Car', namespace: 'x', fields });
    expect(read(new Cursor(Buffer.of(2, 0)))).toEqual({ one: 'green', again: 'red' });
  });

  it('refuses a schema that nests without end', () => {
    let schema: unknown = 'string';
    for (let depth = 0; depth < 100; depth++) schema = { type: 'array', items: schema };
    expect(() => createAvroReader(schema)).toThrow('nests deeper than 32 levels');
  });
});

async function container(type: avro.Type, values: readonly unknown[], options: object = {}): Promise<Buffer> {
  const encoder = new avro.streams.BlockEncoder(type, { blockSize: 1_000, ...options });
  const chunks: Buffer[] = [];
  encoder.on('data', (chunk: Buffer) => chunks.push(chunk));
  for (const one of values) encoder.write(one);
  encoder.end();
  await once(encoder, 'end');
  return Buffer.concat(chunks);
}

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function recordsOf(source: AsyncIterable<Buffer>): Promise<{ records: unknown[]; error: unknown }> {
  const records: unknown[] = [];
  try {
    for await (const some of avroRecords(source)) records.push(...some);
  } catch (error) {
    return { records, error };
  }
  return { records, error: undefined };
}

describe('a container', () => {
  const longs = avro.Type.forSchema('long');
  const numbers = Array.from({ length: 5_000 }, (_, index) => index);

  it.each([
    ['null', 1],
    ['null', 997],
    ['null', 1_000_000],
    ['deflate', 64],
  ])('with codec %s in chunks of %i bytes', async (codec, size) => {
    const { records, error } = await recordsOf(inChunks(await container(longs, numbers, { codec }), size));
    expect(error).toBeUndefined();
    expect(records).toEqual(numbers);
  });

  it('may be empty', async () => {
    expect(await recordsOf(inChunks(await container(longs, []), 10))).toEqual({ records: [], error: undefined });
  });

  it('that is truncated yields the records before the cut, and an error', async () => {
    const whole = await container(longs, numbers);
    for (const length of [3, 30, whole.length - 5_000, whole.length - 17, whole.length - 1]) {
      const { records, error } = await recordsOf(inChunks(whole.subarray(0, length), 512));
      expect(error).toBeInstanceOf(BrokenAvro);
      expect(records).toEqual(numbers.slice(0, records.length));
    }
  });

  it('that is damaged is refused from the damage on', async () => {
    const whole = await container(longs, numbers);
    whole[whole.length - 3]! ^= 0xff;
    const { records, error } = await recordsOf(inChunks(whole, 512));
    expect(error).toMatchObject({ message: expect.stringMatching(/^has a block without its end mark, block \d+$/) });
    expect(records.length).toBeGreaterThan(1_000);
  });

  it.each([
    ['text', 'not avro, but long enough to tell'],
    ['a gigantic block', 'Obj\u0001'],
  ])('%s is refused', async (_what, text) => {
    expect((await recordsOf(inChunks(Buffer.from(text), 100))).error).toBeInstanceOf(BrokenAvro);
  });

  it('with a codec that is not read is refused by name', async () => {
    const snappy = (data: Buffer, done: (error: null, packed: Buffer) => void) => done(null, data);
    const bytes = await container(longs, numbers, { codec: 'snappy', codecs: { snappy } });
    expect((await recordsOf(inChunks(bytes, 100))).error).toMatchObject({ message: expect.stringContaining('snappy') });
  });
});

describe('a Location record', () => {
  const location: Location = {
    id: 'x',
    project: 'another',
    environment: 'live',
    deviceId: 'd',
    userId: 'u',
    latitude: 1,
    longitude: 2,
    accuracy_m: 3,
    occurredAt: 1_750_000_000_000,
    receivedAt: 1_750_000_000_001,
    deviceTimed: true,
    foreground: true,
    stopped: true,
    replayed: false,
    beacons: [{ type: 'eddystone', group: '0123456789abcdef0123', major: '', minor: '0123456789ab', rssi_dbm: -60 }],
    ip: '192.0.2.1',
    source: 'BACKGROUND_LOCATION',
    replyTo: 'elsewhere/1',
    details: null,
  };

  it('comes back as itself, but with the receiver’s project, ids and times', async () => {
    const details = exampleDetails({ deviceType: 'iOS', altitude_m: 12, metadata: '{"a":1}' });
    const bytes = await container(locationType, [{ ...location, details }]);
    const { records } = await recordsOf(inChunks(bytes, 100));
    const receipt = {
      project: 'mine',
      environment: 'test',
      receivedAt: 1_760_000_000_000,
      ip: null,
      replayed: false,
      replyTo: null,
    } as const;
    const result = readBulkLocation(trackFieldsOf(records[0]), receipt);
    expect(result).toEqual({
      ok: true,
      value: {
        ...location,
        details,
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        project: 'mine',
        environment: 'test',
        receivedAt: 1_760_000_000_000,
        replyTo: null,
      },
    });
  });
});
