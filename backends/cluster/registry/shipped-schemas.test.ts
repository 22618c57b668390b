/** Every version that ever shipped is registered, can be read alone, and in an order that gives no id two meanings. */
import { readdirSync } from 'node:fs';
import avro from 'avsc';
import { expect, test } from 'vitest';
import { topics } from '../../../pipeline/ports.js';
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

test.each(versions)('$name is complete', ({ schema }) => {
  expect(avro.Type.forSchema(JSON.parse(schema), { registry: {}, wrapUnions: false }).typeName).toBe('record');
});

// A registry counts from 1. Ids on the wire therefore never equal the fixed id of their topic, and cannot be confused.
test('in an empty registry, no version gets the internal id of its topic', () => {
  for (const [index, { topic }] of versions.entries()) expect(codecs[topic].readableIds).not.toContain(index + 1);
});
