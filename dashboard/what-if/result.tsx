/** The progress of a replay, its counts, and its events beside the recorded ones. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { Replay } from '../../client/types';
import { call, callIn } from '../client/call';
import { useAction } from '../components/action';
import { Badge, Button, Empty, Loading, Notice, Segments } from '../components/controls';
import { counted, grouped } from '../components/counts';
import type { LngLat } from '../components/data-map';
import { saveFile } from '../components/save-file';
import { Tile, Tiles } from '../components/tiles';
import { absoluteTime } from '../components/time';
import { messageOf } from '../components/toasts';
import { useVirtualRows } from '../components/virtual-rows';
import { EventTitle } from '../live/event-title';
import { whoOf } from '../live/event-words';
import { useScope } from '../state/session';
import { byTime, changesOf, countOf, csvOf, descriptionsOf, type Found, type FoundIn, foundInNames } from './compare';
import '../styles/live.css';
import '../styles/what-if.css';

interface FoundState {
  readonly rows: readonly Found[];
  readonly isLoading: boolean;
  readonly error: unknown;
}

const pageSize = 1_000;
const kinds: readonly FoundIn[] = ['replay', 'record', 'both'];

/** Loads the kept events of a replay that has ended. */
export function useFound(replay: Replay | undefined): FoundState {
  const scope = useScope();
  const hasEnded = replay !== undefined && replay.status === 'completed';
  const loaded = useQuery({
    queryKey: [scope, 'replays', replay?._id, 'events'],
    enabled: hasEnded,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const rows: Found[] = [];
      for (const foundIn of kinds) {
        let cursor: string | undefined;
        do {
          const path = { id: replay!._id };
          const page = await callIn(scope, 'GET /v1/replays/{id}/events', {
            path,
            signal,
            query: { foundIn, limit: pageSize, cursor },
          });
          rows.push(...page.events.map((each) => ({ ...each, foundIn })));
          cursor = page.meta.hasMore ? page.meta.cursor : undefined;
        } while (cursor !== undefined);
      }
      return rows.sort(byTime);
    },
  });
  const none = useMemo<readonly Found[]>(() => [], []);
  return { rows: loaded.data ?? none, isLoading: hasEnded && loaded.isPending, error: loaded.error };
}

function Progress({ replay }: { readonly replay: Replay }) {
  const client = useQueryClient();
  const scope = useScope();
  const { recordsRead, recordsTotal, _id } = replay;
  const cancel = useAction(() => call('DELETE /v1/replays/{id}', { path: { id: _id } }));
  return (
    <section className="card card-body stack-tight" aria-label="Progress">
      <div className="spread">
        <span>
          {recordsTotal === 0
            ? 'Waiting to start…'
            : `${grouped(recordsRead)} of ${grouped(recordsTotal)} locations are read.`}
        </span>
        <Button
          isCompact
          isBusy={cancel.isPending}
          onClick={() =>
            cancel.mutate(undefined, {
              onSuccess: () => void client.invalidateQueries({ queryKey: [scope, 'replays'] }),
            })
          }
        >
          Cancel
        </Button>
      </div>
      <progress aria-label="Locations read" max={Math.max(1, recordsTotal)} value={recordsRead} />
    </section>
  );
}

interface ResultProps {
  readonly replay: Replay;
  readonly found: FoundState;
  onEvent(at: LngLat): void;
}

export function Result({ replay, found, onEvent }: ResultProps) {
  const { status, summary, message } = replay;
  if (status === 'running') return <Progress replay={replay} />;
  if (status === 'cancelled') return <Notice role="status">The replay was cancelled.</Notice>;
  if (status === 'failed' || summary === undefined)
    return (
      <Notice tone="danger" role="alert">
        {message ?? 'The replay failed.'}
      </Notice>
    );
  const counts = kinds.map((foundIn) => [foundIn, countOf(summary.total, foundIn)] as const);
  const isCut = counts.some(([foundIn, count]) => count > replay.kept[foundIn]);
  return (
    <>
      <Tiles label="Result">
        <Tile label="Locations evaluated" value={grouped(summary.locations.applied)} />
        {counts.map(([foundIn, count]) => (
          <Tile
            key={foundIn}
            label={
              <>
                <span className={`mark ${foundIn}`} /> {foundInNames[foundIn]} events
              </>
            }
            value={grouped(count)}
          />
        ))}
      </Tiles>
      {summary.firstLocationEvents > 0 && (
        <Notice>
          {counted(summary.firstLocationEvents, 'event comes', 'events come')} from the first stored location of a
          device, which may have been inside before.
        </Notice>
      )}
      <Changes summary={summary} found={found.rows} />
      <EventTable found={found} isCut={isCut} replay={replay} onEvent={onEvent} />
    </>
  );
}

interface ChangesProps {
  readonly summary: NonNullable<Replay['summary']>;
  readonly found: readonly Found[];
}

function Changes({ summary, found }: ChangesProps) {
  const rows = changesOf(summary);
  const descriptions = useMemo(() => descriptionsOf(found), [found]);
  if (rows.length === 0) return null;
  return (
    <section className="card" aria-label="By geofence">
      <div className="card-head">
        <h2>By geofence and beacon</h2>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="table-wrap short" aria-label="Events of each geofence and beacon" tabIndex={0}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Name</th>
              {['Today', 'Proposed', 'Added', 'Removed'].map((title) => (
                <th key={title} scope="col" className="number">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, kind, before, after, added, removed }) => (
              <tr key={`${kind} ${name}`}>
                <td className="name clip truncate" dir="auto" title={name}>
                  {descriptions.get(`${kind} ${name}`) ?? name}
                </td>
                <td className="number">{grouped(before)}</td>
                <td className="number">{grouped(after)}</td>
                <td className="number">{added > 0 ? <Badge tone="success">+{grouped(added)}</Badge> : '–'}</td>
                <td className="number">{removed > 0 ? <Badge tone="danger">−{grouped(removed)}</Badge> : '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

const rowHeight = 52;
const tabs: readonly { readonly value: FoundIn; readonly label: string }[] = kinds.map((value) => ({
  value,
  label: foundInNames[value],
}));

function EventTable({ found, isCut, replay, onEvent }: ResultProps & { readonly isCut: boolean }) {
  const [foundIn, setFoundIn] = useState<FoundIn>('replay');
  const rows = useMemo(() => found.rows.filter((each) => each.foundIn === foundIn), [found.rows, foundIn]);
  const list = useVirtualRows({ count: rows.length, rowHeight, keyOf: (index) => rows[index]!.event._id });
  return (
    <section className="card what-if-events" aria-label="Events of the replay">
      <div className="card-head spread">
        <Segments legend="Events" value={foundIn} options={tabs} onChange={(next: FoundIn) => setFoundIn(next)} />
        <Button
          isCompact
          disabled={found.rows.length === 0}
          onClick={() => saveFile(`what-if-${replay._id}.csv`, new Blob([csvOf(found.rows)], { type: 'text/csv' }))}
        >
          Export CSV
        </Button>
      </div>
      {found.error ? (
        <div className="card-body">
          <Notice tone="danger">{messageOf(found.error)}</Notice>
        </div>
      ) : found.isLoading ? (
        <Loading />
      ) : rows.length === 0 ? (
        <Empty title={`No ${foundInNames[foundIn].toLowerCase()} event`} />
      ) : (
        <section
          className="live-scroll"
          ref={list.scroller}
          aria-label={`${foundInNames[foundIn]} events`}
          {...list.listeners}
        >
          <ol style={{ height: list.virtualizer.getTotalSize() }}>
            {list.rows.map((row) => {
              const { event, firstLocation } = rows[row.index]!;
              const [longitude, latitude] = event.location?.coordinates ?? [];
              const hasPlace = longitude !== undefined && latitude !== undefined;
              return (
                <li key={row.key} {...list.itemProps(row)}>
                  <button
                    type="button"
                    className="event-row"
                    onClick={() => hasPlace && onEvent([longitude, latitude])}
                  >
                    <span className={`mark ${foundIn}`} />
                    <span className="grow">
                      <EventTitle event={event} />
                      <span className="quiet small truncate">
                        <bdi>{whoOf(event)}</bdi>
                        {firstLocation && ' · first location of the device'}
                      </span>
                    </span>
                    <time className="quiet small" dateTime={event.createdAt}>
                      {absoluteTime(event.createdAt)}
                    </time>
                  </button>
                </li>
              );
            })}
          </ol>
        </section>
      )}
      <p className="table-foot" role="status">
        {grouped(rows.length)} {foundInNames[foundIn].toLowerCase()}
        {isCut && '. Only the first 5,000 of each kind can be listed'}
      </p>
    </section>
  );
}
