/** Users: search by id, device or metadata. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { User } from '../../client/types';
import { usePages } from '../client/hooks';
import { Badge, Beneath, Button, Empty, Loading, Page } from '../components/controls';
import { Icon } from '../components/icons';
import { useSettled } from '../components/list-filters';
import { LoadProblem } from '../components/load-problem';
import type { TableColumn } from '../components/table';
import { absoluteTime, relativeTime } from '../components/time';
import { VirtualTable } from '../components/virtual-table';

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
      <span className="quiet" title={absoluteTime(updatedAt)}>
        {relativeTime(updatedAt)}
      </span>
    ),
  },
];

export default function Users() {
  const [text, setText] = useState('');
  const search = useSettled(text.trim());
  const pages = usePages('GET /v1/users', { query: { limit: 100, search: search || undefined } });
  const users = pages.data?.pages.flatMap((page) => page.users) ?? [];
  return (
    <Page title="Users" intro="The people and devices whose locations this environment receives.">
      <div className="card list">
        <div className="toolbar">
          <div className="search">
            <Icon name="search" />
            <input
              className="input"
              type="search"
              aria-label="Search by user id, device or metadata"
              placeholder="User id, device or metadata"
              value={text}
              onChange={({ target }) => setText(target.value)}
            />
          </div>
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
                <Button onClick={() => setText('')}>Clear the search</Button>
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
          />
        )}
        {users.length > 0 && (
          <div className="table-foot spread">
            <span role="status">{pages.hasNextPage ? `The ${users.length} seen last` : `${users.length} in all`}</span>
            {pages.hasNextPage && (
              <Button isCompact isBusy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
                Load more
              </Button>
            )}
          </div>
        )}
      </div>
    </Page>
  );
}
