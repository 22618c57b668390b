/** What waits for its next attempt. */
import { useApi } from '../client/hooks';
import { Empty, Loading } from '../components/controls';
import { counted } from '../components/counts';
import { LoadProblem } from '../components/load-problem';
import { RelativeTime } from '../components/relative-time';
import { isPast } from '../components/time';

const maxShown = 100;

/** Lists the deliveries of a webhook that wait for their turn or for another attempt. */
export function Waiting({ id }: { readonly id: string }) {
  const loaded = useApi(
    'GET /v1/webhooks/{id}/deliveries',
    { path: { id }, query: { limit: maxShown } },
    { refetchInterval: 5_000 },
  );
  return (
    <div className="card">
      <LoadProblem query={loaded} isInCard />
      {loaded.isPending && <Loading rows={3} />}
      {loaded.data?.deliveries.length === 0 && (
        <Empty title="Nothing waits">
          <p>Deliveries wait here for their next attempt.</p>
        </Empty>
      )}
      <ul>
        {loaded.data?.deliveries.map(({ _id, events, attempts, nextAttemptAt, createdAt }) => (
          <li key={_id} className="list-row center">
            <div className="grow">
              <p className="truncate">
                <code>{_id}</code>
              </p>
              <p className="quiet small">
                {counted(events.length, 'event')}, since <RelativeTime time={createdAt} />
                {' · '}
                {counted(attempts, 'attempt')}, {isPast(nextAttemptAt) ? 'due' : 'next'}{' '}
                <RelativeTime time={nextAttemptAt} />
              </p>
            </div>
          </li>
        ))}
      </ul>
      {loaded.data?.meta.hasMore && <p className="table-foot">More deliveries wait. Here are {maxShown} of them.</p>}
    </div>
  );
}
