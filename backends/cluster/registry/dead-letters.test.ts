import { expect, test } from 'vitest';
import { type Topic, topics } from '../../../pipeline/ports.js';
import { codecs } from '../../../schemas/codecs.js';
import { restoreRecord } from './dead-letters.js';
import { TopicIds } from './topic-ids.js';

const writeId = 1_000;
const locationIds = new TopicIds(codecs.location, writeId);
const toWire = (topic: Topic, frame: Buffer): void => {
  if (topic === topics.locations) locationIds.toWire(frame);
};

const frame = (id: number): Buffer => Buffer.from([0, id >>> 24, id >>> 16, id >>> 8, id, 99]);
const letterOf = (topic: string, value: Buffer | null): Buffer =>
  codecs.deadLetter.encode({
    topic,
    partition: 3,
    offset: 17,
    key: Buffer.from('key'),
    value,
    reason: 'undecodable',
    message: 'cut',
    failedAt: 1_700_000_000_000,
  });

test.each([
  ['our id is what it was on the wire', topics.locations, locationIds.fromWire(frame(writeId)), frame(writeId)],
  ['a foreign id stays', topics.locations, frame(77), frame(77)],
  ['what is not a frame stays', topics.locations, Buffer.from('no frame'), Buffer.from('no frame')],
  ['nothing stays nothing', topics.locations, null, null],
  ['a topic that is none of ours', 'elsewhere', frame(codecs.location.schemaId), frame(codecs.location.schemaId)],
])('a record is restored: %s', (_, topic, read, came) => {
  const letter = letterOf(topic, read);
  const before = codecs.deadLetter.decode(letter);
  restoreRecord(letter, toWire);
  expect(codecs.deadLetter.decode(letter)).toEqual({ ...before, value: came });
});

test('a letter in wire form is not changed', () => {
  const letter = letterOf(topics.locations, frame(codecs.location.schemaId));
  letter.writeUInt32BE(writeId, 1);
  const before = Buffer.from(letter);
  restoreRecord(letter, toWire);
  expect(letter).toEqual(before);
});
