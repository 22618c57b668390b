/** The list of beacons. */
import { Link } from 'wouter';
import type { Beacon } from '../../client/types';
import { usePages } from '../client/hooks';
import { Page } from '../components/controls';
import { useListFilters } from '../components/list-filters';
import { columnsWith, NoRows, ResourceList } from '../components/resource-list';
import { useWorkspace } from '../state/session';

const signalOf = ({ type, uuid, major, minor, uid, instance }: Beacon): string =>
  type === 'ibeacon' ? `${uuid} ${major}/${minor}` : `${uid} ${instance}`;

const columns = columnsWith<Beacon>('beacons', {
  title: 'Signal',
  className: 'secondary clip truncate',
  cell: (beacon) => <code title={signalOf(beacon)}>{signalOf(beacon)}</code>,
});

export default function Beacons() {
  const { isOwner } = useWorkspace();
  const filters = useListFilters('beacons');
  const pages = usePages('GET /v1/beacons', {
    query: { ...filters.conditions, sort: filters.sort, limit: 200 },
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
        isLoading={pages.isPending}
        error={pages.error}
        hasMore={pages.hasNextPage}
        isLoadingMore={pages.isFetchingNextPage}
        loadMore={() => void pages.fetchNextPage()}
        filters={filters}
        empty={
          <NoRows
            isFiltered={filters.isFiltered}
            title="No beacons yet"
            actions={isOwner && create}
            onClear={filters.clear}
          >
            A beacon is an iBeacon or an Eddystone, at a place that you know.
          </NoRows>
        }
      />
    </Page>
  );
}
