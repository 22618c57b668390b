/** Users: search by id, device or metadata. */
import { useState } from 'react';
import { Link } from 'wouter';
import { usePages } from '../client/hooks';
import { Badge, Button, Empty, Loading, Notice, Page } from '../components/controls';
import { Icon } from '../components/icons';
import { useSettled } from '../components/list-filters';
import { absoluteTime, relativeTime } from '../components/time';
import { messageOf } from '../components/toasts';

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
        {pages.error && (
          <div className="card-body">
            <Notice tone="danger">{messageOf(pages.error)}</Notice>
          </div>
        )}
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
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          <section className="table-wrap" aria-label="List of users" tabIndex={0}>
            <table className="table">
              <thead>
                <tr>
                  <th scope="col">User</th>
                  <th scope="col" className="secondary">
                    Device
                  </th>
                  <th scope="col">Inside of</th>
                  <th scope="col" className="secondary">
                    State
                  </th>
                  <th scope="col" className="narrow">
                    Last location
                  </th>
                </tr>
              </thead>
              <tbody>
                {users.map((user) => (
                  <tr key={user._id}>
                    <td className="name clip truncate">
                      <Link href={`/users/${user._id}`}>{user.userId ?? user.deviceId}</Link>
                    </td>
                    <td className="secondary clip truncate">
                      <code>{user.deviceId}</code>
                    </td>
                    <td className="clip truncate">
                      {user.geofences.map(({ description }) => description).join(', ') || (
                        <span className="quiet">–</span>
                      )}
                    </td>
                    <td className="secondary">
                      {user.stopped ? <Badge>Stopped</Badge> : <Badge tone="info">Moving</Badge>}
                    </td>
                    <td className="narrow">
                      <span className="quiet" title={absoluteTime(user.updatedAt)}>
                        {relativeTime(user.updatedAt)}
                      </span>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
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
