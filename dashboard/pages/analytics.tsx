/** What has happened in a range of time: entries, visits, flows, and who is inside now. */
import { useEffect, useId, useMemo, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { Dwells } from '../analytics/dwells';
import { Entries, maxEntriesRows } from '../analytics/entries';
import { Flows } from '../analytics/flows';
import { minutesText } from '../analytics/format';
import { Inside } from '../analytics/inside';
import type { PanelProps } from '../analytics/panel';
import { useAnalytics } from '../analytics/query';
import { dateOf, localZone, type Preset, type RangeChoice, rangeOf, type Zone } from '../analytics/range';
import { Visits } from '../analytics/visits';
import { Button, Empty, Page, Segments, SelectField, TextField } from '../components/controls';
import { grouped } from '../components/counts';
import { useSettled } from '../components/list-filters';
import { LoadProblem } from '../components/load-problem';
import { Tile, Tiles } from '../components/tiles';
import { problemAt } from '../forms/draft';
import '../styles/analytics.css';

const presets: readonly { value: Preset; label: string }[] = [
  { value: '24h', label: '24 h' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
  { value: '90d', label: '90 days' },
  { value: 'dates', label: 'Dates' },
];
const zones: readonly { value: Zone; label: string }[] = [
  ...(localZone === 'UTC' ? [] : [{ value: 'local' as const, label: `Times of ${localZone.replaceAll('_', ' ')}` }]),
  { value: 'utc', label: 'Times in UTC' },
];
const kinds = [
  { value: 'geofence', label: 'Geofences' },
  { value: 'beacon', label: 'Beacons' },
] as const;

const refreshMs = 60_000;
const slowRefreshMs = 600_000;
const insideRefreshMs = 15_000;

type State = RangeChoice & {
  readonly kind: PanelProps['filter']['kind'];
  readonly tag: string;
  readonly externalId: string;
};

const initial: State = {
  preset: '7d',
  zone: zones[0]?.value ?? 'utc',
  fromDate: '',
  toDate: '',
  kind: 'geofence',
  tag: '',
  externalId: '',
};

const oneOf = <Value extends string>(
  text: string | null,
  options: readonly { value: Value }[],
  otherwise: Value,
): Value => options.find(({ value }) => value === text)?.value ?? otherwise;

function readState(params: URLSearchParams): State {
  const text = (name: keyof State) => params.get(name) ?? '';
  return {
    preset: oneOf(params.get('preset'), presets, initial.preset),
    zone: oneOf(params.get('zone'), zones, initial.zone),
    kind: oneOf(params.get('kind'), kinds, initial.kind),
    fromDate: text('fromDate'),
    toDate: text('toDate'),
    tag: text('tag'),
    externalId: text('externalId'),
  };
}

/** The choice is in the page's address, so that a link shows the same. */
function useChoice() {
  const [params, setParams] = useSearchParams();
  const [state, setState] = useState(() => readState(params));
  const settled = useSettled(state);
  useEffect(() => {
    const isSet = ([name, value]: [string, string]) => value !== initial[name as keyof State];
    setParams(Object.fromEntries(Object.entries(settled).filter(isSet)), { replace: true });
  }, [settled, setParams]);
  return { state, settled, set: (change: Partial<State>) => setState((now) => ({ ...now, ...change })) };
}

export default function Analytics() {
  const { state, settled, set } = useChoice();
  const range = useMemo(() => rangeOf(settled), [settled]);
  const { kind, tag, externalId } = settled;
  const filter = useMemo(
    () => ({ kind, tag: tag || undefined, externalId: externalId || undefined }),
    [kind, tag, externalId],
  );
  const refresh: number | false =
    range.to === undefined ? (settled.preset === '90d' ? slowRefreshMs : refreshMs) : false;
  const panel: PanelProps = {
    range,
    filter,
    refreshMs: refresh,
    choose: (place) => set({ tag: place.tag ?? '', externalId: place.externalId ?? '' }),
  };
  const { timeZone, interval, ...times } = range;
  const options = { refetchInterval: refresh };
  const query = { ...filter, ...times };
  const entries = useAnalytics(
    'GET /v1/analytics/entries',
    { ...query, interval, timeZone, groupBy: 'tag', limit: maxEntriesRows },
    options,
  );
  const users = useAnalytics('GET /v1/analytics/unique-users', { ...query, groupBy: 'none' }, options);
  const dwells = useAnalytics('GET /v1/analytics/dwell-times', { ...query, groupBy: 'none' }, options);
  const inside = useAnalytics(
    'GET /v1/analytics/inside',
    { ...filter, groupBy: 'none' },
    { refetchInterval: insideRefreshMs },
  );
  // The rows by tag and hour may be cut, so the total is not their sum.
  const total = users.data && (users.data.rows[0]?.entries ?? 0);
  const dwell = dwells.data?.rows[0];
  const isFiltered = tag !== '' || externalId !== '';
  const datesProblem = problemAt(entries.error, 'from') ?? problemAt(entries.error, 'to');
  return (
    <Page
      title="Analytics"
      intro="Who came, how long they stayed, and where they went next."
      actions={
        <SelectField
          label={<span className="visually-hidden">Time zone</span>}
          value={state.zone}
          options={zones}
          onChange={(zone) => set({ zone })}
        />
      }
    >
      <Toolbar state={state} set={set} tags={tagsOf(entries.data?.rows)} problem={datesProblem} />
      <Tiles>
        <Tile label="Entries" value={total === undefined ? undefined : grouped(total)} />
        <Tile label="Different users" value={users.data && grouped(users.data.rows[0]?.users ?? 0)} />
        <Tile label="Median visit" value={dwells.data && minutesText(dwell?.p50Minutes)} />
        <Tile
          label={
            <>
              Inside now <span className="live-dot" />
            </>
          }
          value={inside.data && grouped(inside.data.rows[0]?.devices ?? 0)}
        />
      </Tiles>
      {datesProblem !== undefined ? null : entries.error && entries.data === undefined ? (
        <LoadProblem query={entries} />
      ) : entries.data?.rows.length === 0 ? (
        <div className="card">
          <Empty
            title="No events in this range"
            actions={
              <>
                {isFiltered && <Button onClick={() => set({ tag: '', externalId: '' })}>Clear the filters</Button>}
                {settled.preset !== '90d' && <Button onClick={() => set({ preset: '90d' })}>Show 90 days</Button>}
              </>
            }
          >
            {isFiltered ? (
              <p>Tag and external id must match exactly, as they were at the time of the event.</p>
            ) : (
              <p>
                Analytics fill by themselves, about a second after a device enters a {kind}.{' '}
                <Link href="/start">Getting started</Link> leads to the first event.
              </p>
            )}
          </Empty>
        </div>
      ) : (
        <div className="panels">
          <Entries {...panel} query={entries} />
          <Inside {...panel} refreshMs={insideRefreshMs} />
          <Flows {...panel} />
          <Dwells {...panel} query={dwells} />
          <Visits {...panel} />
        </div>
      )}
    </Page>
  );
}

const tagsOf = (rows: readonly { tag?: string }[] = []): string[] =>
  [...new Set(rows.flatMap(({ tag }) => tag ?? []))].sort();

interface ToolbarProps {
  readonly state: State;
  readonly tags: readonly string[];
  readonly problem: string | undefined;
  set(change: Partial<State>): void;
}

function Toolbar({ state, tags, problem, set }: ToolbarProps) {
  const id = useId();
  const [firstDay] = useState(() => new Date(Date.now() - 6 * 86_400_000));
  function choosePreset(preset: Preset) {
    const isFirst = preset === 'dates' && state.fromDate === '';
    const dates = isFirst && { fromDate: dateOf(firstDay, state.zone), toDate: dateOf(new Date(), state.zone) };
    set({ preset, ...dates });
  }
  return (
    <section className="card analytics-tools" aria-label="Range and filters">
      <Segments legend="Range" value={state.preset} options={presets} onChange={choosePreset} />
      <Segments legend="Kind" value={state.kind} options={kinds} onChange={(kind) => set({ kind })} />
      <input
        className="input filter"
        type="search"
        aria-label="Tag"
        placeholder="Tag"
        list={id}
        value={state.tag}
        onChange={({ target }) => set({ tag: target.value })}
      />
      <datalist id={id}>
        {tags.map((tag) => (
          <option key={tag} value={tag} />
        ))}
      </datalist>
      <input
        className="input filter"
        type="search"
        aria-label="External id"
        placeholder="External id"
        value={state.externalId}
        onChange={({ target }) => set({ externalId: target.value })}
      />
      {state.preset === 'dates' && (
        <div className="analytics-dates">
          <TextField
            label="From"
            type="date"
            value={state.fromDate}
            problem={problem}
            onChange={(fromDate) => set({ fromDate })}
          />
          <TextField label="Through" type="date" value={state.toDate} onChange={(toDate) => set({ toDate })} />
        </div>
      )}
    </section>
  );
}
