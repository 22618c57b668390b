/** The title of an event in a row. A long name is cut at its own end, which is on the left in Arabic and Hebrew. */
import type { Event } from '../../client/types';
import { eventWords } from './event-words';

interface Props {
  readonly event: Event;
  /** How many further events the row stands for. */
  readonly more?: number;
}

export function EventTitle({ event, more = 0 }: Props) {
  const { name, place } = eventWords(event);
  return (
    <span className="event-title">
      <span className={place === undefined ? 'truncate' : undefined}>{name}</span>{' '}
      {place !== undefined && <bdi className="truncate">{place}</bdi>}
      {more > 0 && <span> and {more} more</span>}
    </span>
  );
}
