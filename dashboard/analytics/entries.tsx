/** Entries by hour or day, stacked by tag. */
import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type Answer, urlOf } from '../client/call';
import { BarChart, chartColors, type Series } from '../components/bar-chart';
import { grouped } from '../components/counts';
import { type DataColumn, DataTable } from '../components/data-table';
import { Panel, type PanelProps } from './panel';
import { type Slot, slotsOf } from './range';

type EntriesAnswer = Answer<'GET /v1/analytics/entries'>;
interface Row {
  readonly slot: Slot;
  readonly tag: string;
  readonly entries: number;
}

const others = 'Other tags';
const withoutTag = 'No tag';

/** Returns one series for each tag, the largest first; all beyond the number of colours are one. */
export function seriesOf(
  rows: EntriesAnswer['rows'],
  slots: readonly Slot[],
  keyOf: (row: EntriesAnswer['rows'][number]) => string,
) {
  const totals = new Map<string, number>();
  for (const { tag = withoutTag, entries } of rows) totals.set(tag, (totals.get(tag) ?? 0) + entries);
  const tags = [...totals].sort(([, one], [, other]) => other - one).map(([tag]) => tag);
  const named = tags.length > chartColors ? tags.slice(0, chartColors - 1) : tags;
  const names = named.length < tags.length ? [...named, others] : named;
  const places = new Map(slots.map(({ key }, index) => [key, index]));
  const series = names.map((name) => ({ name, values: slots.map(() => 0) }));
  for (const row of rows) {
    const place = places.get(keyOf(row));
    const index = named.indexOf(row.tag ?? withoutTag);
    const { values } = series.at(index)!;
    if (place !== undefined) values[place]! += row.entries;
  }
  return series satisfies Series[];
}

const columns: readonly DataColumn<Row>[] = [
  { title: 'Time', value: ({ slot }) => slot.key, cell: ({ slot }) => slot.longName, className: 'narrow' },
  { title: 'Tag', value: ({ tag }) => tag },
  { title: 'Entries', className: 'number', value: ({ entries }) => entries, cell: ({ entries }) => grouped(entries) },
];

export function Entries({ range, filter, query }: PanelProps & { readonly query: UseQueryResult<EntriesAnswer> }) {
  const { data } = query;
  const { interval, timeZone, ...times } = range;
  const shown = useMemo(() => {
    if (!data) return;
    const given = { interval: data.meta.interval ?? 'day', timeZone: data.meta.timeZone ?? 'UTC' };
    const slots = slotsOf(data.meta.from, data.meta.to, given);
    const keyOf = ({ start, local }: EntriesAnswer['rows'][number]) => (given.interval === 'hour' ? start : local);
    const bySlot = new Map(slots.map((slot) => [slot.key, slot]));
    const rows = data.rows.flatMap((row): Row[] => {
      const slot = bySlot.get(keyOf(row));
      return slot ? [{ slot, tag: row.tag ?? withoutTag, entries: row.entries }] : [];
    });
    return { slots, rows, series: seriesOf(data.rows, slots, keyOf), interval: given.interval };
  }, [data]);
  return (
    <Panel
      title="Entries"
      className="wide"
      csv={urlOf('/v1/analytics/entries', { ...filter, ...times, interval, timeZone, groupBy: 'tag', format: 'csv' })}
      query={query}
      empty={data?.rows.length === 0 ? 'Nobody entered in this range.' : undefined}
      chart={() =>
        shown && (
          <BarChart
            height={356}
            label={`Entries by ${shown.interval} and tag. The table has the same numbers.`}
            names={shown.slots.map(({ name }) => name)}
            longNames={shown.slots.map(({ longName }) => longName)}
            series={shown.series}
          />
        )
      }
      table={() =>
        shown && <DataTable caption={`Entries by ${shown.interval} and tag`} columns={columns} rows={shown.rows} />
      }
    />
  );
}
