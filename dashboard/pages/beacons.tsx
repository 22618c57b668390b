/** The list of beacons. */
import { Link } from 'wouter';
import { call } from '../client/call';
import { usePages } from '../client/hooks';
import type { Beacon } from '../client/types';
import { Page } from '../components/controls';
import { columnsWith, NoRows, ResourceList, usePairFilters } from '../components/resource-list';
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
  const filters = usePairFilters();
  const pages = usePages('GET /v1/beacons', {
    query: { limit: 100, ...filters.query },
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
        filters={filters.inputs}
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
