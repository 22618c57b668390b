import { expect, test } from 'vitest';
import { geofenceFields } from './records.js';

test('a geofence for all users has no users, whatever its record has', () => {
  const record = { _id: '1', tag: 'store', externalId: '1', type: 'circle', geometryRadius: 50 };
  const everyone = geofenceFields(record);
  for (const none of [null, '', []]) expect(geofenceFields({ ...record, userIds: none, ip: none })).toEqual(everyone);
  expect(geofenceFields({ ...record, userIds: ['ann'] })).toEqual({ ...everyone, userIds: ['ann'] });
});
