/** Users: search by id, device or metadata. */
import { useCallback, useEffect } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { User } from '../../client/types';
import { useNextPages, usePages } from '../client/hooks';
import { Badge, Beneath, Button, Empty, Loading, Page } from '../components/controls';
import { grouped } from '../components/counts';
import { SearchField } from '../components/list-filters';
import { LoadProblem } from '../components/load-problem';
import { RelativeTime } from '../components/relative-time';
import type { TableColumn } from '../components/table';
import { NextRows, VirtualTable } from '../components/virtual-table';
import { keepListFilters } from '../state/list-address';

const insideOf = ({ geofences }: User): string => geofences.map(({ description }) => description).join(', ');

const columns: readonly TableColumn<User>[] = [
  {
    title: 'User',
    className: 'name clip truncate',
    cell: (user) => (
      <>
        <Link href={`/users/${user._id}`}>{user.userId ?? user.deviceId}</Link>
        <Beneath>{insideOf(user) || 'In no geofence'}</Beneath>
      </>
    ),
  },
  {
    title: 'Device',
    className: 'secondary clip-short truncate',
    cell: ({ deviceId }) => <code>{deviceId}</code>,
  },
  {
    title: 'Inside of',
    className: 'secondary told-beneath clip truncate',
    cell: (user) => insideOf(user) || <span className="quiet">–</span>,
  },
  {
    title: 'State',
    className: 'secondary narrow',
    cell: ({ stopped }) => (stopped ? <Badge>Stopped</Badge> : <Badge tone="info">Moving</Badge>),
  },
  {
    title: 'Last location',
    className: 'narrow',
    cell: ({ updatedAt }) => (
      <span className="quiet">
        <RelativeTime time={updatedAt} />
      </span>
    ),
  },
];

export default function Users() {
  const [parameters, setParameters] = useSearchParams();
  const search = parameters.get('search') ?? '';
  useEffect(() => keepListFilters('users', parameters.toString()), [parameters]);
  // What is typed would fill the history of the browser.
  const setSearch = useCallback(
    (text: string) => setParameters(text.trim() === '' ? {} : { search: text.trim() }, { replace: true }),
    [setParameters],
  );
  const pages = usePages('GET /v1/users', { query: { limit: 100, search: search || undefined } });
  const users = pages.data?.pages.flatMap((page) => page.users) ?? [];
  const onSight = useNextPages(pages, users.length);
  return (
    <Page title="Users" intro="The people and devices whose locations this environment receives.">
      <div className="card list">
        <div className="toolbar">
          <SearchField label="Search ids, devices and metadata" value={search} onChange={setSearch} />
        </div>
        <LoadProblem query={pages} isInCard />
        {pages.isPending && !pages.error && <Loading />}
        {pages.data && users.length === 0 && (
          <Empty
            title={search === '' ? 'No user yet' : 'Nothing matches'}
            actions={
              search === '' ? (
                <Link className="button" href="/start">
                  Send a location
                </Link>
              ) : (
                <Button onClick={() => setSearch('')}>Clear the search</Button>
              )
            }
          >
            <p>
              {search === ''
                ? 'A user appears here about a second after its first location.'
                : 'The search looks for a part of the user id, the device id, the description and the metadata.'}
            </p>
          </Empty>
        )}
        {users.length > 0 && (
          <VirtualTable
            label="List of users"
            rows={users}
            columns={columns}
            hasMore={pages.hasNextPage}
            keyOf={({ _id }) => _id}
            onSight={onSight}
          />
        )}
        {/* Readers of screens hear only changes of what is there already, also when nothing matches any more. */}
        <div className={users.length > 0 ? 'table-foot spread' : 'visually-hidden'}>
          <span role="status">
            {pages.data &&
              (pages.hasNextPage ? `The ${grouped(users.length)} seen last` : `${grouped(users.length)} in all`)}
          </span>
          <NextRows pages={pages}>More as you scroll</NextRows>
        </div>
      </div>
    </Page>
  );
}
