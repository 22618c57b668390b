import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as arbitrary from '../../schemas/testing/records.js';
import { eventJson } from '../../schemas/wire/user.js';
import { eventMessage, gapMessage, heartbeatMessage, openingMessage } from './messages.js';
import { encodePosition } from './position.js';
import { interpret } from './testing/standard-parser.js';

const position = fc.array(fc.maxSafeNat(), { minLength: 1, maxLength: 8 });
/** JSON may have line breaks between tokens. Event types should not have any, because they would break the block. */
const event = fc
  .tuple(arbitrary.event, fc.constantFrom('user.entered_geofence', 'a b', 'x\nid: y', 'x\r\rdata: y'), fc.boolean())
  .map(([drawn, type, isSpaced]) => ({ ...drawn, type, ...(isSpaced && { metadata: '{\n"a":\r\n1}' }) }));

test('an event is one message with its type, its JSON on one line and the position as id', () => {
  fc.assert(
    fc.property(event, position, (drawn, offsets) => {
      const text = eventMessage(drawn, offsets);
      const { messages, lastEventId } = interpret(text);
      expect(messages).toHaveLength(1);
      expect(messages[0]).toMatchObject({
        type: drawn.type.replace(/[\r\n]+/g, ' '),
        lastEventId: encodePosition(offsets),
      });
      expect(lastEventId).toBe(encodePosition(offsets));
      expect({ ...JSON.parse(messages[0]!.data), type: drawn.type }).toEqual(
        JSON.parse(JSON.stringify(eventJson(drawn))),
      );
      expect(text.split(/\r\n|\n|\r/)).toHaveLength(5);
    }),
  );
});

test('concatenated messages parse like single messages', () => {
  const missing = [{ partition: 1, missing: 12 }];
  const text = [openingMessage([0, 5]), gapMessage(missing, [0, 17]), heartbeatMessage([3, 17])].join('');
  expect(interpret(text)).toEqual({
    messages: [{ type: 'gap', data: JSON.stringify({ partitions: missing }), lastEventId: encodePosition([0, 17]) }],
    lastEventId: encodePosition([3, 17]),
    retryMs: 1_000,
  });
});

test('opening and heartbeat dispatch nothing but update the position', () => {
  fc.assert(
    fc.property(position, (offsets) => {
      for (const text of [openingMessage(offsets), heartbeatMessage(offsets)]) {
        expect(interpret(text)).toMatchObject({ messages: [], lastEventId: encodePosition(offsets) });
      }
    }),
  );
});
