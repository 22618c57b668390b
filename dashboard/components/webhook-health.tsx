/** How a webhook does: its last attempts as a strip, and their result in words. */

import type { Attempt } from '../../client/types';
import { useApi } from '../client/hooks';
import { Badge } from './controls';

const shownAttempts = 30;
const refreshMs = 10_000;

export function WebhookHealth({ id }: { readonly id: string }) {
  const { data } = useApi(
    'GET /v1/webhooks/{id}/attempts',
    { path: { id }, query: { limit: shownAttempts } },
    { refetchInterval: refreshMs },
  );
  if (data === undefined) return <span className="spinner" />;
  const { attempts } = data;
  const failed = attempts.filter(({ state }) => state !== 'delivered').length;
  return (
    <span className="row health">
      <Strip attempts={attempts} />
      {attempts.length === 0 ? (
        <Badge>No attempts yet</Badge>
      ) : failed === 0 ? (
        <Badge tone="success">Healthy</Badge>
      ) : (
        <Badge tone={attempts[0]?.state === 'delivered' ? 'warning' : 'danger'}>
          {failed} of {attempts.length} failed
        </Badge>
      )}
    </span>
  );
}

/** One bar for each attempt, the newest at the right. */
function Strip({ attempts }: { readonly attempts: readonly Attempt[] }) {
  return (
    <svg className="strip" viewBox={`0 0 ${shownAttempts * 4} 16`} aria-hidden="true">
      {attempts.map(({ _id, state }, index) => (
        <rect
          key={_id}
          className={state === 'delivered' ? 'good' : 'bad'}
          x={(shownAttempts - 1 - index) * 4}
          width="3"
          height="16"
          rx="1"
        />
      ))}
    </svg>
  );
}
