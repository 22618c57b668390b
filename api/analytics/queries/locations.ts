/** What became of the locations that were sent, and why those are missing that are. */
import Type from 'typebox';
import { intervalMeta, intervalRow, intervalsSchema, readInterval, readIntervals } from '../intervals.js';
import { groupBy } from '../places.js';
import { count, type Question, rangeOf, unset } from '../query.js';

export const locations: Question = {
  name: 'locations',
  operationId: 'countLocations',
  summary: 'Locations by what became of them',
  description:
    'By the time of receipt. `applied`; `repeat`, the very same fix again; `stale`, older than the last applied one; `rejected`, by endpoint, code of the error and field. `stage` as the endpoint: accepted, but impossible to evaluate.',
  parameters: intervalsSchema(null),
  row: Type.Object({
    start: Type.Optional(intervalRow.start),
    local: Type.Optional(intervalRow.local),
    result: Type.Enum(['applied', 'repeat', 'stale', 'rejected']),
    endpoint: Type.Optional(Type.Enum(['track', 'replay', 'bulk', 'stage'])),
    code: Type.Optional(Type.String({ description: 'Of docs/errors.md; of `stage` the reason of the dead letter' })),
    param: Type.Optional(Type.String({ description: 'The field at fault' })),
    locations: count('So many'),
  }),
  meta: intervalMeta,
  ask(reader) {
    const interval = readInterval(reader);
    const intervals = interval && readIntervals(reader, interval, 'received_at');
    const reasons = ['each.result', 'each.endpoint', 'each.code', 'each.param'];
    const keys = intervals === null ? reasons : ['start', 'local', ...reasons];
    return {
      sql: `SELECT ${intervals?.select ?? ''} each.result AS result, ${unset('endpoint')} AS endpoint, ${unset('code')} AS code, ${unset('param')} AS param,
        sum(each.count) AS locations
        FROM ${rangeOf('received_locations')} ${groupBy(keys)} ORDER BY ${keys.join(', ')}`,
      parameters: intervals?.parameters ?? {},
      ...(intervals && { meta: intervals.meta }),
    };
  },
};
