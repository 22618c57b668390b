import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as arbitrary from '../testing/records.js';
import { eventText } from './event-text.js';
import { eventJson } from './user.js';

test('the text of an event parses to its JSON', () => {
  fc.assert(
    fc.property(arbitrary.event, (event) => {
      expect(JSON.parse(eventText(event))).toEqual(JSON.parse(JSON.stringify(eventJson(event))));
    }),
  );
});
