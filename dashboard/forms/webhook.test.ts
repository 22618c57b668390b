import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Webhook } from '../../client/types';
import { bodyOf, completionsOf, draftOf } from './webhook';

const webhook: Webhook = {
  _id: '0',
  url: 'https://example.com/',
  delivery: 'single',
  enabled: true,
  live: false,
  secrets: [],
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};
const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 8 });
const tag = fc.oneof(text, fc.constantFrom('my shop', 'a,b', ' a', '"', '"a"', '""', 'a\nb', 'mär\r\nkt', '\\', '[1]'));

// An owner added a tag to those of a webhook, "my shop" and "a,b". The form split them at spaces and commas, so events
// of "my shop" were no longer delivered, and nothing said so.
test('a webhook keeps its tags when its form is saved, whatever characters they have', () => {
  fc.assert(
    fc.property(fc.array(tag, { minLength: 1 }), (tags) => {
      const draft = draftOf({ ...webhook, tags });
      expect(bodyOf(draft).tags).toEqual(tags);
      expect(bodyOf({ ...draft, tags: `${draft.tags}\n my store \n\n` }).tags).toEqual([...tags, 'my store']);
    }),
  );
  expect(bodyOf(draftOf(webhook))).toMatchObject({ tags: null, types: null });
  expect(draftOf({ ...webhook, tags: ['my shop', 'a,b'] }).tags).toBe('my shop\na,b');
});

// The second type that was chosen from the list replaced the first one.
test('a further type that is chosen keeps those before it', () => {
  const types = ['user.entered_geofence', 'user.exited_geofence'];
  expect(completionsOf('', types)).toEqual(types);
  expect(completionsOf('user.ex', types)).toEqual(types);
  expect(completionsOf('sold,user.entered_geofence, us', types)).toEqual([
    'sold, user.entered_geofence, user.exited_geofence',
  ]);
});
