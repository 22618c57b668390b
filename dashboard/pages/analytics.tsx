/** What has happened in a range of time: entries, visits, flows, and who is inside now. */
import { useCallback, useEffect, useId, useMemo, useState } from 'react';
import { Link } from 'wouter';
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
import { TypedFilter, useTyped } from '../components/list-filters';
import { LoadProblem } from '../components/load-problem';
import type { Problem } from '../components/problem';
import { Tile, Tiles } from '../components/tiles';
import { problemAt } from '../forms/draft';
import { useAddressTexts } from '../state/view-address';
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

/** Parameters of the address. One that is missing is that of {@link stateIn}. */
const names = ['preset', 'zone', 'fromDate', 'toDate', 'kind', 'tag', 'externalId'] as const;
type Texts = Readonly<Record<(typeof names)[number], string>>;

type State = RangeChoice & Texts & { readonly kind: PanelProps['filter']['kind'] };

const oneOf = <Value extends string>(text: string, options: readonly { value: Value }[], otherwise: Value): Value =>
  options.find(({ value }) => value === text)?.value ?? otherwise;

const stateIn = (texts: Texts): State => ({
  ...texts,
  preset: oneOf(texts.preset, presets, '7d'),
  zone: oneOf(texts.zone, zones, zones[0]?.value ?? 'utc'),
  kind: oneOf(texts.kind, kinds, 'geofence'),
});

/** The choice is in the page's address, so that a link shows the same, and Back what was chosen before. */
function useChoice() {
  const [texts, put] = useAddressTexts(names);
  const state = useMemo(() => stateIn(texts), [texts]);
  const choose = useCallback((change: Partial<State>) => put(change, { isChoice: true }), [put]);
  return { state, type: put as (change: Partial<State>) => void, choose };
}

const quarterMs = 900_000;
const presentQuarter = (): number => Math.floor(Date.now() / quarterMs);

/** Returns a number that changes at each quarter of an hour, in which an hour of some zone may begin. */
function useQuarter(): number {
  const [quarter, setQuarter] = useState(presentQuarter);
  useEffect(() => {
    const timer = setInterval(() => setQuarter(presentQuarter()), refreshMs);
    return () => clearInterval(timer);
  }, []);
  return quarter;
}

export default function Analytics() {
  const { state, type, choose } = useChoice();
  const quarter = useQuarter();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the last 24 hours are others later
  const range = useMemo(() => rangeOf(state), [state, quarter]);
  const { kind, tag, externalId } = state;
  const filter = useMemo(
    () => ({ kind, tag: tag || undefined, externalId: externalId || undefined }),
    [kind, tag, externalId],
  );
  const refresh: number | false = range.to === undefined ? (state.preset === '90d' ? slowRefreshMs : refreshMs) : false;
  const panel: PanelProps = {
    range,
    filter,
    refreshMs: refresh,
    choose: (place) => choose({ tag: place.tag ?? '', externalId: place.externalId ?? '' }),
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
          onChange={(zone) => choose({ zone })}
        />
      }
    >
      <Toolbar state={state} type={type} choose={choose} tags={tagsOf(entries.data?.rows)} problem={datesProblem} />
      <Tiles>
        {/* The rows by tag and hour may be cut, so the total is not their sum. */}
        <Tile label="Entries" value={textOf(users, ({ rows }) => grouped(rows[0]?.entries ?? 0))} />
        <Tile label="Different users" value={textOf(users, ({ rows }) => grouped(rows[0]?.users ?? 0))} />
        <Tile label="Median visit" value={textOf(dwells, ({ rows }) => minutesText(rows[0]?.p50Minutes))} />
        <Tile
          label={
            <>
              Inside now <span className="live-dot" />
            </>
          }
          value={textOf(inside, ({ rows }) => grouped(rows[0]?.devices ?? 0))}
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
                {isFiltered && <Button onClick={() => choose({ tag: '', externalId: '' })}>Clear the filters</Button>}
                {state.preset !== '90d' && <Button onClick={() => choose({ preset: '90d' })}>Show 90 days</Button>}
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

interface Answer<Data> {
  readonly data: Data | undefined;
  readonly error: unknown;
}

/** Returns the number of a tile: a dash if it could not be loaded, undefined while it is on its way. */
const textOf = <Data,>({ data, error }: Answer<Data>, text: (data: Data) => string): string | undefined =>
  data === undefined ? (error ? '–' : undefined) : text(data);

const tagsOf = (rows: readonly { tag?: string }[] = []): string[] =>
  [...new Set(rows.flatMap(({ tag }) => tag ?? []))].sort();

interface ToolbarProps {
  readonly state: State;
  readonly tags: readonly string[];
  readonly problem: Problem | undefined;
  type(change: Partial<State>): void;
  choose(change: Partial<State>): void;
}

function Toolbar({ state, tags, problem, type, choose }: ToolbarProps) {
  const id = useId();
  const [firstDay] = useState(() => new Date(Date.now() - 6 * 86_400_000));
  function choosePreset(preset: Preset) {
    const isFirst = preset === 'dates' && state.fromDate === '';
    const dates = isFirst && { fromDate: dateOf(firstDay, state.zone), toDate: dateOf(new Date(), state.zone) };
    choose({ preset, ...dates });
  }
  const set = useMemo(
    () => ({
      tag: (tag: string) => type({ tag }),
      externalId: (externalId: string) => type({ externalId }),
      fromDate: (fromDate: string) => type({ fromDate }),
      toDate: (toDate: string) => type({ toDate }),
    }),
    [type],
  );
  return (
    <section className="card analytics-tools" aria-label="Range and filters">
      <Segments legend="Range" value={state.preset} options={presets} onChange={choosePreset} />
      <Segments legend="Kind" value={state.kind} options={kinds} onChange={(kind) => choose({ kind })} />
      <TypedFilter label="Tag" list={id} value={state.tag} onChange={set.tag} />
      <datalist id={id}>
        {tags.map((tag) => (
          <option key={tag} value={tag} />
        ))}
      </datalist>
      <TypedFilter label="External id" value={state.externalId} onChange={set.externalId} />
      {state.preset === 'dates' && (
        <div className="analytics-dates">
          <DateField label="From" value={state.fromDate} problem={problem} onChange={set.fromDate} />
          <DateField label="Through" value={state.toDate} onChange={set.toDate} />
        </div>
      )}
    </section>
  );
}

interface DateProps {
  readonly label: string;
  readonly value: string;
  readonly problem?: Problem | undefined;
  onChange(value: string): void;
}

/** A date on its way to another one, such as in the year 2 on the way to 2026, is not asked for. */
function DateField({ value, onChange, ...rest }: DateProps) {
  const [text, setText] = useTyped(value, onChange);
  return <TextField type="date" value={text} onChange={setText} {...rest} />;
}
