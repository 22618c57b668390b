/** The hours or days of entries, and their counts by tag. Pure. */
import type { Answer } from '../client/call';
import type { Series } from '../components/bar-chart';
import { type Slot, slotsOf } from './range';

export type EntriesAnswer = Answer<'GET /v1/analytics/entries'>;
type EntriesRow = EntriesAnswer['rows'][number];

const others = 'Other tags';
/** Stands for the tag of places that have none. */
export const withoutTag = 'No tag';

/**
 * Returns the hours or days of the answer in order, and the key by which a row belongs to one. A row of an hour that
 * the browser does not expect gets its own: the browser may know other clock changes than the server. A cut answer ends
 * with its last row, because nothing is known of later ones.
 */
export function slotsOfAnswer({ meta, rows }: Pick<EntriesAnswer, 'meta' | 'rows'>) {
  const { interval = 'day', timeZone = 'UTC' } = meta;
  const keyOf = ({ start, local }: EntriesRow): string => (interval === 'hour' ? start : local);
  const slots = new Map(slotsOf(meta.from, meta.to, { interval, timeZone }).map((slot) => [slot.key, slot]));
  for (const row of rows) {
    const key = keyOf(row);
    if (!slots.has(key)) slots.set(key, { key, name: row.local, longName: row.local });
  }
  const last = rows.at(-1);
  const lastKey = meta.hasMore && last ? keyOf(last) : undefined;
  const known = [...slots.values()].filter(({ key }) => lastKey === undefined || key <= lastKey);
  return { interval, keyOf, slots: known.sort((one, other) => (one.key < other.key ? -1 : 1)) };
}

/** Returns one series for each tag, the largest first; those beyond the largest number of series are one. */
export function seriesOf(
  rows: readonly EntriesRow[],
  slots: readonly Slot[],
  keyOf: (row: EntriesRow) => string,
  maxSeries: number,
) {
  const totals = new Map<string, number>();
  for (const { tag = withoutTag, entries } of rows) totals.set(tag, (totals.get(tag) ?? 0) + entries);
  const tags = [...totals].sort(([, one], [, other]) => other - one).map(([tag]) => tag);
  const named = tags.length > maxSeries ? tags.slice(0, maxSeries - 1) : tags;
  const names = named.length < tags.length ? [...named, others] : named;
  const places = new Map(slots.map(({ key }, index) => [key, index]));
  const series = names.map((name) => ({ name, values: slots.map(() => 0) }));
  for (const row of rows) {
    const index = named.indexOf(row.tag ?? withoutTag);
    series.at(index)!.values[places.get(keyOf(row))!]! += row.entries;
  }
  return series satisfies Series[];
}
