/** Counts received locations by result, with the reason of each rejection. */
import Type from 'typebox';
import { intervalMeta, intervalRow, intervalsSchema, readInterval, readIntervals } from '../intervals.js';
import { groupBy } from '../places.js';
import { count, type Query, rangeOf, unset } from '../query.js';

/** Received locations by what became of them, rejected ones included. */
export const locations: Query = {
  name: 'locations',
  operationId: 'countLocations',
  summary: 'Received locations by result',
  description:
    'By time of receipt. Results: `applied`; `repeat`, a duplicate of the last fix; `stale`, older than the last ' +
    'applied one; `rejected`, by endpoint, error code and field. Endpoint `stage` means accepted but ' +
    'impossible to evaluate.',
  parameters: intervalsSchema(null),
  row: Type.Object({
    start: Type.Optional(intervalRow.start),
    local: Type.Optional(intervalRow.local),
    result: Type.Enum(['applied', 'repeat', 'stale', 'rejected']),
    endpoint: Type.Optional(Type.Enum(['track', 'replay', 'bulk', 'stage'])),
    code: Type.Optional(
      Type.String({ description: 'Error code (docs/errors.md); for `stage` the reason of the dead letter' }),
    ),
    param: Type.Optional(Type.String({ description: 'Invalid field' })),
    locations: count('Number of locations'),
  }),
  meta: intervalMeta,
  build(reader) {
    const interval = readInterval(reader);
    const intervals = interval && readIntervals(reader, interval, 'received_at');
    const reasons = ['each.result', 'each.endpoint', 'each.code', 'each.param'];
    const keys = intervals === null ? reasons : ['start', 'local', ...reasons];
    return {
      sql: `SELECT ${intervals?.select ?? ''} each.result AS result, ${unset('endpoint')} AS endpoint,
          ${unset('code')} AS code, ${unset('param')} AS param, sum(each.count) AS locations
        FROM ${rangeOf('received_locations')} ${groupBy(keys)} ORDER BY ${keys.join(', ')}`,
      parameters: intervals?.parameters ?? {},
      ...(intervals && { meta: intervals.meta }),
    };
  },
};
