/**
 * Containers that are broken, or made to be. Five of them used to be answered 500: a schema that is no JSON, `fields`
 * that is not a list, a field that is null, the type `__proto__`, and a block of more than 16 MiB. Each is answered 400
 * with the place and the rule, and costs bounded time and memory: one that costs too much exceeds the time limit of
 * tests.
 */
import { deflateRawSync } from 'node:zlib';
import avro from 'avsc';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { propertyRuns } from '../../../schemas/testing/property-runs.js';
import { type DeviceApi, north, startDeviceApi } from '../../../testing/device-api.js';
import { type Block, container, containerWith, long, magic } from './testing/container.js';

let ingest: DeviceApi;
beforeAll(async () => {
  ingest = await startDeviceApi({ stage: false });
});
afterAll(() => ingest.close());

const locationSchema = {
  type: 'record',
  name: 'L',
  fields: [
    { name: 'deviceId', type: 'string' },
    { name: 'latitude', type: 'double' },
    { name: 'longitude', type: 'double' },
    { name: 'accuracy', type: 'double' },
    { name: 'userId', type: ['null', 'string'], default: null },
    { name: 'beacons', type: { type: 'array', items: { type: 'map', values: ['string', 'long'] } } },
  ],
};
// biome-ignore lint/suspicious/noExplicitAny: avsc's schema types don't take constants
const locationType = avro.Type.forSchema(locationSchema as any, { wrapUnions: 'always' });
const record = (index: number): Buffer =>
  locationType.toBuffer({
    deviceId: `d${index}`,
    ...north(index),
    userId: { string: 'ann' },
    beacons: [{ type: { string: 'ibeacon' } }],
  });
const records = (count: number): Block => ({
  count,
  bytes: Buffer.concat(Array.from({ length: count }, (_, index) => record(index))),
});

async function send(body: Buffer) {
  const headers = { authorization: ingest.secret, 'content-type': 'application/avro' };
  const answer = await ingest.app.inject({ method: 'POST', url: '/v1/locations', headers, payload: body });
  return { ...answer.json(), status: answer.statusCode };
}

const good = { type: 'record', name: 'R', fields: [{ name: 'a', type: 'long' }] };
const one: Block = { count: 1, bytes: long(5) };

/** 2^30 values without bytes. */
const doubling = [...Array(30).keys()].reduce<unknown>(
  (_, level) => ({
    type: 'record',
    name: `R${level}`,
    fields: [
      { name: 'a', type: level === 0 ? 'null' : (_ as object) },
      { name: 'b', type: level === 0 ? 'null' : `R${level - 1}` },
    ],
  }),
  'null',
);
const chain = [...Array(5_000).keys()].map((level) => ({
  name: `f${level}`,
  type: { type: 'record', name: `C${level}`, fields: [{ name: 'a', type: level === 0 ? 'long' : `C${level - 1}` }] },
}));
const nested = (depth: number): string => `${'{"type":"array","items":'.repeat(depth)}"long"${'}'.repeat(depth)}`;

describe('a hostile container is answered 400, with the place and the rule', () => {
  it.each<[string, Buffer, string]>([
    [
      'a schema that is no JSON',
      container('{"type": record}', [one]),
      'has a schema that is not valid JSON: column 10: expected a value, not "r", in its header',
    ],
    ['no schema', containerWith({}, []), 'has no schema, in its header'],
    [
      'fields that is not a list',
      container({ ...good, fields: 'a' }, [one]),
      'has a schema in which `fields` of a record is not a list, in its header',
    ],
    [
      'fields that is an object',
      container({ ...good, fields: { length: 1 } }, [one]),
      'has a schema in which `fields` of a record is not a list, in its header',
    ],
    [
      'a field that is null',
      container({ ...good, fields: [null] }, [one]),
      'has a schema in which a field of a record is not an object, in its header',
    ],
    [
      'a field without a name',
      container({ ...good, fields: [{ type: 'long' }] }, [one]),
      'has a schema in which the name of a field is not text of at most 1000 characters, in its header',
    ],
    [
      'a field without a type',
      container({ ...good, fields: [{ name: 'a' }] }, [one]),
      'has a schema in which a type is missing, in its header',
    ],
    [
      'the type __proto__',
      container('"__proto__"', [one]),
      'has a schema that names an unknown type, __proto__, in its header',
    ],
    [
      'the type constructor',
      container({ type: 'constructor' }, [one]),
      'has a schema that names an unknown type, constructor, in its header',
    ],
    [
      'the type toString within a union',
      container('["null","toString"]', [one]),
      'has a schema that names an unknown type, toString, in its header',
    ],
    [
      'a record without a name',
      container({ type: 'record', fields: [] }, [one]),
      'has a schema in which the name of a type is not text of at most 1000 characters, in its header',
    ],
    [
      'symbols that is null',
      container({ type: 'enum', name: 'E', symbols: null }, [one]),
      'has a schema in which `symbols` of an enum is not a list, in its header',
    ],
    [
      'a fixed type of negative size',
      container({ type: 'fixed', name: 'F', size: -1 }, [one]),
      'has a schema in which the `size` of a fixed type is not a whole number of at least 0, in its header',
    ],
    [
      'a schema that contains itself',
      container({ ...good, fields: [{ name: 'a', type: ['null', 'R'] }] }, [one]),
      'has a schema that names an unknown type, R, in its header',
    ],
    [
      'a schema that nests deep',
      container(nested(40_000), [one]),
      'has a schema that nests deeper than 32 levels, in its header',
    ],
    [
      'a schema whose names nest deep',
      container({ type: 'record', name: 'Top', fields: chain }, [one]),
      'has a schema that nests deeper than 32 levels, in its header',
    ],
    [
      'a type wrapped without end',
      container(`${'{"type":'.repeat(1_000)}"long"${'}'.repeat(1_000)}`, [one]),
      'has a schema that nests deeper than 32 levels, in its header',
    ],
    [
      'a block of more than 16 MiB',
      container(good, [{ count: 1, bytes: Buffer.alloc(10), says: 16 * 2 ** 20 + 1 }]),
      'declares 16777217 bytes; the limit is 16 MiB, in block 1',
    ],
    [
      'a block of a negative size',
      container(good, [one, { count: 1, bytes: Buffer.alloc(10), says: -5 }]),
      'declares -5 bytes; the limit is 16 MiB, in block 2',
    ],
    ['a negative count', container(good, [{ ...one, count: -1 }]), 'counts -1 records, in block 1'],
    [
      'a giant count',
      container(good, [{ ...one, count: 2 ** 40 }]),
      'counts 1099511627776 records in 1 bytes, in block 1',
    ],
    [
      'a giant count of items of no bytes',
      container({ type: 'array', items: 'null' }, [{ count: 1, bytes: Buffer.concat([long(2 ** 40), long(0)]) }]),
      'counts more items than it has bytes, in block 1, record 1, which begins at byte 0 of the block',
    ],
    [
      'runs of items of no bytes',
      container({ type: 'array', items: 'null' }, [
        {
          count: 1,
          bytes: Buffer.concat(
            [...Array(40)].map(() => Buffer.concat([long(900_000), Buffer.alloc(1)])).concat(Buffer.alloc(2 ** 20)),
          ),
        },
      ]),
      'holds more than 100000 values in one record, in block 1, record 1, which begins at byte 0 of the block',
    ],
    [
      '2^30 values of no bytes',
      container(doubling, [{ count: 1, bytes: Buffer.alloc(1) }]),
      'holds too many values that take no bytes, in block 1, record 1, which begins at byte 0 of the block',
    ],
    [
      'a text longer than the block',
      container('"string"', [{ count: 1, bytes: long(2 ** 50) }]),
      'ends within a value, in block 1, record 1, which begins at byte 0 of the block',
    ],
    [
      'bytes after the records',
      container(good, [{ count: 1, bytes: Buffer.concat([long(5), long(5)]) }]),
      'has 1 bytes left after its records, in block 1',
    ],
    [
      'a deflate bomb',
      container(good, [{ count: 1, bytes: deflateRawSync(Buffer.alloc(64 * 2 ** 20)) }], 'deflate'),
      'decompresses to more than 16 MiB, the limit of a block, in block 1',
    ],
    [
      'broken deflate data',
      container(good, [one, { count: 1, bytes: Buffer.from('not deflate') }], 'deflate'),
      'holds broken deflate data, in block 1',
    ],
    [
      'a codec of the prototype',
      container(good, [one], '__proto__'),
      'uses codec __proto__; only null and deflate are supported, in its header',
    ],
    [
      'a header without end',
      Buffer.concat([magic, long(1), long(3), Buffer.from('key'), long(2 ** 40), Buffer.alloc(2 ** 20)]),
      'needs more than 1 MiB, in its header',
    ],
  ])('%s', async (_what, body, message) => {
    const { status, meta } = await send(body);
    expect({ status, ...meta }).toMatchObject({
      status: 400,
      code: 400,
      type: 'invalid_body',
      message: `the Avro container ${message}`,
    });
  });
});

it('records before the fault count, also within its block', async () => {
  const bytes = Buffer.concat([records(5).bytes, Buffer.from([0xff])]);
  const answer = await send(container(locationSchema, [records(3), { count: 6, bytes }]));
  expect(answer).toMatchObject({ status: 400, accepted: 8, rejected: 0 });
  expect(answer.meta.message).toMatch(
    /^the Avro container ends within a value, in block 2, record 6, which begins at byte \d+ of the block$/,
  );
});

it('bytes for fields are refused one record at a time, not taken apart', async () => {
  const fields = [
    ...locationSchema.fields.slice(0, 4),
    { name: 'metadata', type: 'bytes' },
    { name: 'details', type: 'bytes' },
  ];
  const type = avro.Type.forSchema({ type: 'record', name: 'L', fields } as avro.Schema);
  const large = { deviceId: 'd', ...north(0), metadata: Buffer.alloc(4 * 2 ** 20), details: Buffer.alloc(4 * 2 ** 20) };
  const before = process.memoryUsage().heapUsed;
  const answer = await send(
    container({ type: 'record', name: 'L', fields }, [{ count: 1, bytes: type.toBuffer(large) }]),
  );
  expect(answer).toMatchObject({ status: 200, accepted: 0, rejections: [{ line: 1, param: 'metadata' }] });
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 2 ** 20);
});

it('a header that arrives byte by byte is copied a few times, not for each byte', async () => {
  const { avroRecords } = await import('./container.js');
  const body = container(JSON.stringify({ ...good, doc: 'x'.repeat(500_000) }), [one]);
  async function* bytes() {
    for (let at = 0; at < body.length; at++) yield body.subarray(at, at + 1);
  }
  const { concat } = Buffer;
  let copiedBytes = 0;
  Buffer.concat = (parts, ...rest) => {
    const joined = concat(parts, ...rest);
    copiedBytes += joined.length;
    return joined;
  };
  onTestFinished(() => {
    Buffer.concat = concat;
  });
  const found = [];
  for await (const some of avroRecords(bytes())) found.push(...some);
  expect(found).toHaveLength(1);
  expect(copiedBytes / body.length).toBeLessThan(25);
});

it('no change to a good container is answered 500, hangs, or counts what it does not hold', async () => {
  const part = fc.constantFrom<unknown>(
    null,
    [],
    {},
    'null',
    '__proto__',
    'L',
    -1,
    2 ** 53,
    'x'.repeat(2_000),
    ['null', ['null']],
    { type: 'map' },
  );
  const path = fc.array(fc.nat({ max: 6 }), { minLength: 1, maxLength: 5 });
  /** Puts something else into a random place of the schema. */
  function edited(schema: unknown, [step = 0, ...rest]: readonly number[], put: unknown): unknown {
    if (typeof schema !== 'object' || schema === null || rest.length === 0) return put;
    const keys = Object.keys(schema);
    const key = keys[step % Math.max(1, keys.length)];
    if (key === undefined) return put;
    const copy = structuredClone(schema) as Record<string, unknown>;
    copy[key] = edited(copy[key], rest, put);
    return copy;
  }
  const number = fc.oneof(
    fc.integer({ min: -3, max: 20 }),
    fc.constantFrom(2 ** 31, 2 ** 40, -(2 ** 40), 16 * 2 ** 20 + 1),
  );
  // Seldom enough that most containers are broken in one place only.
  const seldom = <T>(some: fc.Arbitrary<T>) => fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, some);
  const schemaEdit = seldom(fc.tuple(path, part));
  const block = fc.record({ records: fc.nat({ max: 4 }), count: seldom(number), says: seldom(number) });
  const byteEdits = seldom(fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 3 }));
  const codec = fc.constantFrom(undefined, 'null', 'deflate', 'deflate', 'snappy');
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(
      schemaEdit,
      fc.array(block, { maxLength: 3 }),
      codec,
      byteEdits,
      seldom(fc.nat()),
      async (edit, blocks, packing, edits, cut) => {
        const schema = edit === null ? locationSchema : edited(locationSchema, edit[0], edit[1]);
        const whole = container(
          schema,
          blocks.map((given) => {
            const { bytes } = records(given.records);
            const packed = packing === 'deflate' ? deflateRawSync(bytes) : bytes;
            return { count: given.count ?? given.records, bytes: packed, says: given.says ?? packed.length };
          }),
          packing,
        );
        for (const [at, byte] of edits ?? []) whole[at % whole.length] = byte;
        const body = cut === null ? whole : whole.subarray(0, cut % (whole.length + 1));
        const answer = await send(body);
        expect([200, 400]).toContain(answer.status);
        expect(answer.accepted + answer.rejected).toBeLessThanOrEqual(body.length);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      },
    ),
    { numRuns: propertyRuns(600) },
  );
  expect(statuses.get(200)).toBeGreaterThan(20);
  expect(statuses.get(400)).toBeGreaterThan(100);
});
