/** Follows the events of the environment, by the live stream or, where none comes through, by reading the topic. */
import type { Event } from '../../client/types';
import { call } from './call';
import { followStream, type Polled, type StreamState } from './stream';

interface Listener {
  /** An event may come a second time after the connection was lost. */
  onEvent(event: Event): void;
  /** Up to so many events are gone that should have come. */
  onGap?(missing: number): void;
  onState?(state: StreamState): void;
}

interface Gap {
  readonly partitions: readonly { readonly missing?: number }[];
}

/** An answer has fewer events if they are large: the rest comes with the next one. */
const maxPolled = 1_000;

/** The ids of the stream are positions in the topic. */
async function pollTopic(from = 'latest', signal: AbortSignal): Promise<Polled> {
  const query = { from, limit: maxPolled };
  const { records, partitions, next } = await call('GET /v1/topics/events', { query, signal });
  const events = records.flatMap(({ event }) => (event ? [{ type: event.type, data: JSON.stringify(event) }] : []));
  const gap = { type: 'gap', data: JSON.stringify({ partitions } satisfies Gap) };
  return { messages: partitions.some(({ missing }) => missing) ? [gap, ...events] : events, next };
}

/** Follows events from now on, until the returned function is called. */
export const followEvents = ({ onEvent, onGap, onState }: Listener): (() => void) =>
  followStream(
    '/v1/events/stream',
    {},
    {
      onMessage({ data }) {
        const message = JSON.parse(data) as Event | Gap;
        if ('_id' in message) onEvent(message);
        else onGap?.(message.partitions.reduce((sum, { missing = 0 }) => sum + missing, 0));
      },
      poll: pollTopic,
      ...(onState && { onState }),
    },
  );
