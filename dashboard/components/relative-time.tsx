/** A time in words that grow older by themselves. */
import { useEffect, useReducer } from 'react';
import { absoluteTime, relativeTime, untilOtherWordsMs } from './time';

/** Shows for example "3 minutes ago", and the time itself on request. */
export function RelativeTime({ time }: { readonly time: string }) {
  const [turn, renew] = useReducer((count: number) => count + 1, 0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the words is followed by another one
  useEffect(() => {
    const timer = setTimeout(renew, untilOtherWordsMs(time));
    return () => clearTimeout(timer);
  }, [time, turn]);
  return (
    // Its age is no news: a region that reads its changes aloud would do so every minute.
    <time dateTime={time} title={absoluteTime(time)} aria-live="off">
      {relativeTime(time)}
    </time>
  );
}
