/** Every version that ever shipped is registered, can be read alone, and in an order that gives no id two meanings. */
import { readdirSync } from 'node:fs';
import avro from 'avsc';
import { expect, test } from 'vitest';
import { topics } from '../../../pipeline/ports.js';
import { bodyForMark } from '../../../schemas/codecs.js';
import { shippedSchemas } from './shipped-schemas.js';

const { versions, codecs } = shippedSchemas;

test('every shipped version of every topic is registered, and none that is only stored', () => {
  const files = readdirSync(new URL('../../../schemas/avro/versions/', import.meta.url));
  const names = files.map((file) => file.replace('.avsc', '')).filter((name) => !name.startsWith('device-state.'));
  expect(versions.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
});

test.each(Object.values(topics))('%s: older versions come first, the last is what its codec writes', (topic) => {
  const ofTopic = versions.filter((version) => version.topic === topic);
  expect(ofTopic.map(({ name }) => Number(name.split('.v')[1]))).toEqual(ofTopic.map((_, index) => index + 1));
  expect(JSON.parse(ofTopic.at(-1)!.schema)).toEqual(codecs[topic].type.schema({ exportAttrs: true }));
});

const typeOf = (schema: string) => avro.Type.forSchema(JSON.parse(schema), { registry: {}, wrapUnions: false });

test.each(versions)('$name is complete', ({ schema }) => {
  expect(typeOf(schema).typeName).toBe('record');
});

// A release that hashed another version took the log that an earlier one had read for another log.
test.each(Object.values(topics))('%s: marks of positions hash the first version', (topic) => {
  const first = typeOf(versions.find((version) => version.topic === topic)!.schema);
  const resolver = codecs[topic].type.createResolver(first);
  for (let count = 0; count < 50; count++) {
    const body = first.toBuffer(first.random());
    expect(bodyForMark(codecs[topic].encode(codecs[topic].type.fromBuffer(body, resolver)))).toEqual(body);
  }
});

// A registry counts from 1. Ids on the wire therefore never equal the fixed id of their topic, and cannot be confused.
test('in an empty registry, no version gets the internal id of its topic', () => {
  for (const [index, { topic }] of versions.entries()) expect(codecs[topic].readableIds).not.toContain(index + 1);
});
