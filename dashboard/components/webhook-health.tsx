/** How a webhook does: its last attempts as a strip, and their result in words. */
import { type RefObject, useEffect, useRef, useState } from 'react';
import type { Attempt } from '../../client/types';
import { useApi } from '../client/hooks';
import { Badge } from './controls';

const shownAttempts = 30;
const refreshMs = 10_000;

/** Returns whether the element is in sight, or near it. */
function useIsInSight(element: RefObject<Element | null>): boolean {
  const [isInSight, setInSight] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => setInSight(entry!.isIntersecting), { rootMargin: '100px' });
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, [element]);
  return isInSight;
}

/** Asks while it is in sight: an environment may have a thousand webhooks. */
export function WebhookHealth({ id }: { readonly id: string }) {
  const element = useRef<HTMLSpanElement>(null);
  const isInSight = useIsInSight(element);
  const { data, error } = useApi(
    'GET /v1/webhooks/{id}/attempts',
    { path: { id }, query: { limit: shownAttempts } },
    { refetchInterval: refreshMs, enabled: isInSight },
  );
  return (
    <span className="row health" ref={element}>
      {data ? <Attempts attempts={data.attempts} /> : error ? <Badge>Unknown</Badge> : <span className="spinner" />}
    </span>
  );
}

function Attempts({ attempts }: { readonly attempts: readonly Attempt[] }) {
  if (attempts.length === 0) return <Badge>No attempts yet</Badge>;
  const failed = attempts.filter(({ state }) => state !== 'delivered').length;
  return (
    <>
      <Strip attempts={attempts} />
      {failed === 0 ? (
        <Badge tone="success">Healthy</Badge>
      ) : (
        <Badge tone={attempts[0]?.state === 'delivered' ? 'warning' : 'danger'}>
          {failed} of {attempts.length} failed
        </Badge>
      )}
    </>
  );
}

const places = Array.from({ length: shownAttempts }, (_, index) => index);

/** One bar for each attempt, the newest at the right. Faint bars stand for missing ones, so it never looks shifted. */
function Strip({ attempts }: { readonly attempts: readonly Attempt[] }) {
  return (
    <svg className="strip" viewBox={`0 0 ${shownAttempts * 4} 16`} aria-hidden="true">
      {places.map((index) => {
        const attempt = attempts[index];
        const className = attempt === undefined ? 'none' : attempt.state === 'delivered' ? 'good' : 'bad';
        const x = (shownAttempts - 1 - index) * 4;
        return <rect key={index} className={className} x={x} width="3" height="16" rx="1" />;
      })}
    </svg>
  );
}
