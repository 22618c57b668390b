/** Dwell times of visits: quantiles and a histogram. */
import Type from 'typebox';
import type { FieldReader } from '../../../http/fields/reader.js';
import { numberOf } from '../../../http/fields/values.js';
import { groupBy, groupingSchema, placeGrouping, placesSchema, readGroupBy, readPlaces } from '../places.js';
import { count, minutes, placeRow, type Query, rangeOf } from '../query.js';

const defaultBoundsMinutes = [1, 5, 15, 30, 60, 120, 240, 480, 1_440];
const maxBounds = 20;
const maxBoundMinutes = 100_000;
const boundsRule =
  `must be 1 to ${maxBounds} numbers of minutes, each greater than the one before, ` +
  `above 0 and up to ${maxBoundMinutes}`;

function readBounds(reader: FieldReader): readonly number[] {
  const list = reader.list('bounds');
  if (list === undefined)
    return reader.value('bounds') === undefined ? defaultBoundsMinutes : (reader.refuse('bounds', boundsRule) ?? []);
  const bounds = list.map((item) => numberOf(item) ?? Number.NaN);
  const isRising = bounds.every((bound, index) => bound > (bounds[index - 1] ?? 0) && bound <= maxBoundMinutes);
  if (bounds.length === 0 || bounds.length > maxBounds || !isRising) reader.refuse('bounds', boundsRule);
  return bounds;
}

const quantiles = { p10Minutes: 0.1, p50Minutes: 0.5, p90Minutes: 0.9, p99Minutes: 0.99 };
const ended = "each.state = 'ended'";
const duration = 'assumeNotNull(each.duration_min)';

/** Quantiles and a histogram of the durations of visits, over table `visits`. */
export const dwellTimes: Query = {
  name: 'dwell-times',
  operationId: 'getDwellTimes',
  summary: 'Dwell times: how long visits last',
  description:
    'Covers visits whose entry lies in the range. Quantiles (linearly interpolated) and the histogram cover ended ' +
    'visits; open and unseen visits are only counted. `histogram` has one count per bucket: below the first bound, ' +
    'between consecutive bounds, and from the last bound on.',
  parameters: {
    ...placesSchema,
    ...groupingSchema('none'),
    bounds: Type.Optional(
      Type.String({
        default: defaultBoundsMinutes.join(),
        description: 'Bucket bounds of the histogram in minutes, ascending, separated by commas',
      }),
    ),
  },
  row: Type.Object({
    ...placeRow,
    visits: count('Ended visits'),
    openVisits: count('Visits without an exit so far'),
    unseenVisits: count('Visits whose exit was never seen'),
    p10Minutes: minutes('10th percentile'),
    p50Minutes: minutes('Median'),
    p90Minutes: minutes('90th percentile'),
    p99Minutes: minutes('99th percentile'),
    histogram: Type.Array(Type.Integer(), { description: 'Has one element more than `meta.boundsMinutes`' }),
  }),
  meta: { boundsMinutes: Type.Array(Type.Number()) },
  build(reader) {
    const { sql: chosen, parameters } = readPlaces(reader);
    const grouping = placeGrouping(readGroupBy(reader, 'none'), 'entered_at');
    const bounds = readBounds(reader);
    const quantileColumns = Object.entries(quantiles).map(
      ([name, level]) => `if(visits = 0, NULL, quantileExactInclusiveIf(${level})(${duration}, ${ended})) AS ${name}`,
    );
    return {
      sql: `WITH arrayPushFront({bounds:Array(Float64)}, 0) AS lows,
          arrayPushBack({bounds:Array(Float64)}, inf) AS highs
        SELECT ${grouping.select} countIf(${ended}) AS visits, countIf(each.state = 'open') AS openVisits,
          countIf(each.state = 'unseen') AS unseenVisits, ${quantileColumns.join(', ')},
          arrayResize(sumForEachIf(
            arrayMap((low, high) -> toUInt64(${duration} >= low AND ${duration} < high), lows, highs), ${ended}
          ), length(lows)) AS histogram
        FROM ${rangeOf('visits')} WHERE ${chosen} ${groupBy(grouping.keys)}
        ORDER BY ${['visits DESC', ...grouping.keys].join(', ')}`,
      parameters: { ...parameters, bounds },
      meta: { boundsMinutes: bounds },
    };
  },
};
