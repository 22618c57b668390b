/** The list of geofences. */
import { useState } from 'react';
import { Link } from 'wouter';
import { call } from '../client/call';
import { usePages } from '../client/hooks';
import type { Geofence } from '../client/types';
import { Badge, Page } from '../components/controls';
import { type Column, FilterInput, NoRows, ResourceList, useSettled } from '../components/resource-list';
import { absoluteTime, relativeTime } from '../components/time';
import { useWorkspace } from '../state/session';

/** Returns the shape in a few words. */
function shapeOf({ type, geometryRadius, geometry, mode }: Geofence): string {
  if (type === 'circle') return `Circle, ${geometryRadius.toLocaleString('en')} m`;
  if (type === 'isochrone') return `${geometryRadius} min by ${mode ?? 'car'}`;
  return `Polygon, ${Math.max(0, (geometry?.coordinates[0]?.length ?? 1) - 1)} points`;
}

const columns: readonly Column<Geofence>[] = [
  {
    title: 'Description',
    className: 'name clip truncate',
    cell: ({ _id, description }) => <Link href={`/geofences/${_id}`}>{description}</Link>,
  },
  { title: 'Tag', className: 'clip-short truncate', cell: ({ tag }) => tag },
  {
    title: 'External id',
    className: 'secondary clip-short truncate',
    cell: ({ externalId }) => <code>{externalId}</code>,
  },
  { title: 'Shape', className: 'secondary', cell: shapeOf },
  {
    title: 'State',
    cell: ({ enabled }) => (enabled ? <Badge tone="success">Enabled</Badge> : <Badge>Disabled</Badge>),
  },
  {
    title: 'Updated',
    className: 'secondary narrow',
    cell: ({ updatedAt }) => (
      <span className="quiet" title={absoluteTime(updatedAt)}>
        {relativeTime(updatedAt)}
      </span>
    ),
  },
];

const noFilters = { tag: '', externalId: '' };

export default function Geofences() {
  const { isOwner } = useWorkspace();
  const [filters, setFilters] = useState(noFilters);
  const settled = useSettled(filters);
  const pages = usePages('GET /v1/geofences', {
    query: { limit: 100, tag: settled.tag || undefined, externalId: settled.externalId || undefined },
  });
  const create = (
    <Link href="/geofences/new" className="button primary">
      New geofence
    </Link>
  );
  return (
    <Page
      title="Geofences"
      intro="Areas that make events when devices enter, leave, or stay."
      actions={isOwner && create}
    >
      <ResourceList
        resource="geofences"
        rows={pages.data?.pages.flatMap(({ geofences }) => geofences) ?? []}
        columns={columns}
        nameOf={({ description }) => description}
        isLoading={pages.isPending}
        error={pages.error}
        hasMore={pages.hasNextPage}
        isLoadingMore={pages.isFetchingNextPage}
        loadMore={() => void pages.fetchNextPage()}
        apply={(action, { _id: id }) =>
          action === 'delete'
            ? call('DELETE /v1/geofences/{id}', { path: { id } })
            : call('PATCH /v1/geofences/{id}', { path: { id }, body: { enabled: action === 'enable' } })
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
            title="No geofences yet"
            actions={isOwner && create}
            onClear={() => setFilters(noFilters)}
          >
            A geofence is a circle, a polygon, or the area within a travel time.
          </NoRows>
        }
      />
    </Page>
  );
}
