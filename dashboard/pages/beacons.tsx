/** The list of beacons. */
import { useState } from 'react';
import { Link } from 'wouter';
import { call } from '../client/call';
import { usePages } from '../client/hooks';
import type { Beacon } from '../client/types';
import { Badge, Page } from '../components/controls';
import { type Column, FilterInput, NoRows, ResourceList, useSettled } from '../components/resource-list';
import { absoluteTime, relativeTime } from '../components/time';
import { useWorkspace } from '../state/session';

const signalOf = ({ type, uuid, major, minor, uid, instance }: Beacon): string =>
  type === 'ibeacon' ? `${uuid} ${major}/${minor}` : `${uid} ${instance}`;

const columns: readonly Column<Beacon>[] = [
  {
    title: 'Description',
    className: 'name clip truncate',
    cell: ({ _id, description }) => <Link href={`/beacons/${_id}`}>{description}</Link>,
  },
  { title: 'Tag', className: 'clip-short truncate', cell: ({ tag }) => tag },
  {
    title: 'External id',
    className: 'secondary clip-short truncate',
    cell: ({ externalId }) => <code>{externalId}</code>,
  },
  {
    title: 'Signal',
    className: 'secondary clip truncate',
    cell: (beacon) => <code title={signalOf(beacon)}>{signalOf(beacon)}</code>,
  },
  {
    title: 'State',
    cell: ({ enabled }) => (enabled ? <Badge tone="success">Enabled</Badge> : <Badge>Disabled</Badge>),
  },
  {
    title: 'Updated',
    className: 'secondary narrow',
    cell: ({ updatedAt }) =>
      updatedAt && (
        <span className="quiet" title={absoluteTime(updatedAt)}>
          {relativeTime(updatedAt)}
        </span>
      ),
  },
];

const noFilters = { tag: '', externalId: '' };

export default function Beacons() {
  const { isOwner } = useWorkspace();
  const [filters, setFilters] = useState(noFilters);
  const settled = useSettled(filters);
  const pages = usePages('GET /v1/beacons', {
    query: { limit: 100, tag: settled.tag || undefined, externalId: settled.externalId || undefined },
  });
  const create = (
    <Link href="/beacons/new" className="button primary">
      New beacon
    </Link>
  );
  return (
    <Page
      title="Beacons"
      intro="Radio beacons that make events when devices come near and go away."
      actions={isOwner && create}
    >
      <ResourceList
        resource="beacons"
        rows={pages.data?.pages.flatMap(({ beacons }) => beacons) ?? []}
        columns={columns}
        nameOf={({ description }) => description}
        isLoading={pages.isPending}
        error={pages.error}
        hasMore={pages.hasNextPage}
        isLoadingMore={pages.isFetchingNextPage}
        loadMore={() => void pages.fetchNextPage()}
        apply={(action, { _id: id }) =>
          action === 'delete'
            ? call('DELETE /v1/beacons/{id}', { path: { id } })
            : call('PATCH /v1/beacons/{id}', { path: { id }, body: { enabled: action === 'enable' } })
        }
        filters={
          <>
            <FilterInput label="Tag" value={filters.tag} onChange={(tag) => setFilters({ ...filters, tag })} />
            <FilterInput
              label="External id"
              value={filters.externalId}
              onChange={(externalId) => setFilters({ ...filters, externalId })}
            />
          </>
        }
        empty={
          <NoRows
            isFiltered={settled.tag !== '' || settled.externalId !== ''}
            title="No beacons yet"
            actions={isOwner && create}
            onClear={() => setFilters(noFilters)}
          >
            A beacon is an iBeacon or an Eddystone, at a place that you know.
          </NoRows>
        }
      />
    </Page>
  );
}
