/** Why a location made its events, and why it made no others. */
import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import type { UserLocation } from '../../client/types';
import { Badge, Button, Loading } from '../components/controls';
import { type Loadable, LoadProblem } from '../components/load-problem';
import { absoluteTime } from '../components/time';
import { eventTitle } from '../live/event-words';
import { reasonsOf } from './timeline';
import type { TimelineMapProps } from './timeline-map';

const verdicts = {
  happened: { tone: 'success', label: 'Event' },
  'recorded only': { tone: 'warning', label: 'Event, not by the current rules' },
  'not recorded': { tone: 'warning', label: 'Would be an event now' },
} as const;

interface ExplainedProps {
  readonly location: UserLocation;
  readonly answer: TimelineMapProps['explained'];
  readonly query: Loadable;
  onClose(): void;
}

export function Explained({ location, answer, query, onClose }: ExplainedProps) {
  const reasons = answer ? reasonsOf(answer) : [];
  const panel = useRef<HTMLElement>(null);
  // Only its beginning comes into sight: the list above it, from which the next location is chosen, stays there.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another location comes into sight as well
  useEffect(() => {
    const first = panel.current?.querySelector('li') ?? panel.current;
    first?.scrollIntoView({ block: 'nearest' });
  }, [location._id, answer]);
  const other = answer?.events.filter(({ geofence }) => geofence === undefined) ?? [];
  return (
    <section className="card" aria-label="Why" ref={panel}>
      <div className="card-head spread">
        <h2>Why, at {absoluteTime(location.at)}</h2>
        <Button isCompact look="plain" icon="close" aria-label="Close" onClick={onClose} />
      </div>
      {query.error ? (
        <LoadProblem query={query} isInCard />
      ) : answer === undefined ? (
        <Loading rows={3} />
      ) : (
        <>
          {answer.explanation.notice && (
            <p className="card-body quiet" role="status">
              {answer.explanation.notice.text}
            </p>
          )}
          {answer.before === undefined && location.result === 'applied' && (
            <p className="card-body quiet">
              No earlier location of this user is stored, so it counts as outside of everything before.
            </p>
          )}
          <ul>
            {reasons.map(({ fence, name, verdict, title, text }) => (
              <li key={`${fence._id} ${title}`} className="list-row reason">
                <div className="grow stack-tight">
                  <div className="row">
                    <strong>{title}</strong>
                    {verdict !== 'none' && <Badge tone={verdicts[verdict].tone}>{verdicts[verdict].label}</Badge>}
                  </div>
                  <p className="quiet">{text}</p>
                </div>
                <Link className="button compact" href={`/geofences/${fence._id}`} aria-label={`Open ${name}`}>
                  Open
                </Link>
              </li>
            ))}
            {other.map((event) => (
              <li key={event._id} className="list-row reason">
                <div className="row">
                  <strong>{eventTitle(event)}</strong>
                  <Badge tone="success">Event</Badge>
                </div>
              </li>
            ))}
          </ul>
          <p className="table-foot">
            Explained by the current geofences and settings. Distances are to the boundary of the geofence.
          </p>
        </>
      )}
    </section>
  );
}
