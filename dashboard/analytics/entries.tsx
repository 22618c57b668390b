/** Entries by hour or day, stacked by tag. */
import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import { urlOf } from '../client/call';
import { BarChart, chartColors } from '../components/bar-chart';
import { counted, grouped } from '../components/counts';
import { type DataColumn, DataTable } from '../components/data-table';
import { Panel, type PanelProps } from './panel';
import type { Slot } from './range';
import { type EntriesAnswer, seriesOf, slotsOfAnswer, withoutTag } from './series';

interface Row {
  readonly slot: Slot;
  readonly tag: string;
  readonly entries: number;
}

/** The API's largest answer: 92 days of 108 tags, or 72 hours of 138. */
export const maxEntriesRows = 10_000;

const columns: readonly DataColumn<Row>[] = [
  { title: 'Time', value: ({ slot }) => slot.key, cell: ({ slot }) => slot.longName, className: 'narrow' },
  { title: 'Tag', value: ({ tag }) => tag },
  { title: 'Entries', className: 'number', value: ({ entries }) => entries, cell: ({ entries }) => grouped(entries) },
];

/** Shows the entries of each hour or day, stacked by tag. */
export function Entries({ range, filter, query }: PanelProps & { readonly query: UseQueryResult<EntriesAnswer> }) {
  const { data } = query;
  const { interval, timeZone, ...times } = range;
  const shown = useMemo(() => {
    if (!data) return;
    const { interval, keyOf, slots } = slotsOfAnswer(data);
    const bySlot = new Map(slots.map((slot) => [slot.key, slot]));
    const rows = data.rows.map((row): Row => {
      return { slot: bySlot.get(keyOf(row))!, tag: row.tag ?? withoutTag, entries: row.entries };
    });
    return { slots, rows, series: seriesOf(data.rows, slots, keyOf, chartColors), interval };
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
      foot={
        data?.meta.hasMore &&
        `These are the oldest ${counted(data.rows.length, 'row')}; later ones are left out. The CSV has all.`
      }
    />
  );
}
