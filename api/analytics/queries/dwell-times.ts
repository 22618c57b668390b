/** How long visits last: quantiles and a histogram. */
import Type from 'typebox';
import { type FieldReader, parseNumber } from '../../../http/fields/reader.js';
import { groupBy, groupingSchema, placeGrouping, placesSchema, readGroupBy, readPlaces } from '../places.js';
import { count, minutes, placeRow, type Question, rangeOf } from '../query.js';

const defaultBoundsMinutes = [1, 5, 15, 30, 60, 120, 240, 480, 1_440];
const maxBounds = 20;
const maxBoundMinutes = 100_000;
const boundsRule = `must be 1 to ${maxBounds} numbers of minutes, each greater than the one before, above 0 and up to ${maxBoundMinutes}`;

function readBounds(reader: FieldReader): readonly number[] {
  const list = reader.list('bounds');
  if (list === undefined)
    return reader.value('bounds') === undefined ? defaultBoundsMinutes : (reader.refuse('bounds', boundsRule) ?? []);
  const bounds = list.map((item) => parseNumber(item) ?? Number.NaN);
  const isRising = bounds.every((bound, index) => bound > (bounds[index - 1] ?? 0) && bound <= maxBoundMinutes);
  if (bounds.length === 0 || bounds.length > maxBounds || !isRising) reader.refuse('bounds', boundsRule);
  return bounds;
}

const quantiles = { p10Minutes: 0.1, p50Minutes: 0.5, p90Minutes: 0.9, p99Minutes: 0.99 };
const ended = "each.state = 'ended'";
const duration = 'assumeNotNull(each.duration_min)';

export const dwellTimes: Question = {
  name: 'dwell-times',
  operationId: 'getDwellTimes',
  summary: 'Dwell times: how long visits last',
  description:
    'Of the visits whose entry lies in the range. Quantiles (with interpolation between neighbours) and histogram are of the ended ones; open and unseen ones are counted only. `histogram` has a count for each bucket: below the first bound, from each bound up to the next, and from the last bound on.',
  parameters: {
    ...placesSchema,
    ...groupingSchema('none'),
    bounds: Type.Optional(
      Type.String({
        default: defaultBoundsMinutes.join(),
        description: 'Bounds of the histogram, minutes, rising, with commas between',
      }),
    ),
  },
  row: Type.Object({
    ...placeRow,
    visits: count('Ended'),
    openVisits: count('Without an exit so far'),
    unseenVisits: count('Whose exit was never seen'),
    p10Minutes: minutes('One in ten was no longer than this'),
    p50Minutes: minutes('Median'),
    p90Minutes: minutes('Nine in ten were no longer than this'),
    p99Minutes: minutes('99 in 100 were no longer than this'),
    histogram: Type.Array(Type.Integer(), { description: 'One more than `meta.boundsMinutes`' }),
  }),
  meta: { boundsMinutes: Type.Array(Type.Number()) },
  ask(reader) {
    const { sql: chosen, parameters } = readPlaces(reader);
    const grouping = placeGrouping(readGroupBy(reader, 'none'), 'entered_at');
    const bounds = readBounds(reader);
    const quantileColumns = Object.entries(quantiles).map(
      ([name, level]) => `if(visits = 0, NULL, quantileExactInclusiveIf(${level})(${duration}, ${ended})) AS ${name}`,
    );
    return {
      sql: `WITH arrayPushFront({bounds:Array(Float64)}, 0) AS lows, arrayPushBack({bounds:Array(Float64)}, inf) AS highs
        SELECT ${grouping.select} countIf(${ended}) AS visits, countIf(each.state = 'open') AS openVisits,
          countIf(each.state = 'unseen') AS unseenVisits, ${quantileColumns.join(', ')},
          arrayResize(sumForEachIf(arrayMap((low, high) -> toUInt64(${duration} >= low AND ${duration} < high), lows, highs), ${ended}), length(lows)) AS histogram
        FROM ${rangeOf('visits')} WHERE ${chosen} ${groupBy(grouping.keys)} ORDER BY ${['visits DESC', ...grouping.keys].join(', ')}`,
      parameters: { ...parameters, bounds },
      meta: { boundsMinutes: bounds },
    };
  },
};
