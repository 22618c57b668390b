/** The list of geofences. */
import { Link } from 'wouter';
import type { Geofence } from '../../client/types';
import { usePages } from '../client/hooks';
import { Page } from '../components/controls';
import { useListFilters } from '../components/list-filters';
import { columnsWith, NoRows, ResourceList } from '../components/resource-list';
import { useWorkspace } from '../state/session';

/** Returns the shape in a few words. */
function shapeOf({ type, geometryRadius, geometry, mode }: Geofence): string {
  if (type === 'circle') return `Circle, ${geometryRadius.toLocaleString('en')} m`;
  if (type === 'isochrone') return `${geometryRadius} min by ${mode ?? 'car'}`;
  return `Polygon, ${Math.max(0, (geometry?.coordinates[0]?.length ?? 1) - 1)} points`;
}

const columns = columnsWith<Geofence>('geofences', {
  title: 'Shape',
  className: 'secondary',
  cell: shapeOf,
});

export default function Geofences() {
  const { isOwner } = useWorkspace();
  const filters = useListFilters('geofences');
  const pages = usePages('GET /v1/geofences', {
    query: { ...filters.conditions, sort: filters.sort, limit: 200 },
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
        isLoading={pages.isPending}
        error={pages.error}
        hasMore={pages.hasNextPage}
        isLoadingMore={pages.isFetchingNextPage}
        loadMore={() => void pages.fetchNextPage()}
        filters={filters}
        empty={
          <NoRows
            isFiltered={filters.isFiltered}
            title="No geofences yet"
            actions={isOwner && create}
            onClear={filters.clear}
          >
            A geofence is a circle, a polygon, or the area within a travel time.
          </NoRows>
        }
      />
    </Page>
  );
}
