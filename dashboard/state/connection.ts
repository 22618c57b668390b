/**
 * Whether the server answers. Queries pause while it does not, and run again when it does: TanStack Query's idea of
 * being online is the server's.
 */
import { onlineManager } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';

const firstDelayMs = 1_000;
const maxDelayMs = 10_000;

let isReachable = true;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

function set(next: boolean): void {
  if (next === isReachable) return;
  isReachable = next;
  onlineManager.setOnline(next);
  for (const listener of listeners) listener();
}

// The browser's own signal says nothing about the server: a server on this machine answers without a network.
onlineManager.setEventListener(() => () => {});
onlineManager.setOnline(true);

/** A connection that is gone gives no answer, and no error for minutes. */
const answerWithinMs = 10_000;

/** Tests whether an answer is of the API. That of a proxy is a page, or nothing. */
export const isJson = (headers: Headers): boolean => headers.get('content-type')?.includes('json') ?? false;

async function isAnswering(): Promise<boolean> {
  const request = { cache: 'no-store', signal: AbortSignal.timeout(answerWithinMs) } as const;
  try {
    const { ok, headers } = await fetch('/health/live', request);
    return ok && isJson(headers);
  } catch {
    return false;
  }
}

async function probe(delayMs: number): Promise<void> {
  if (await isAnswering()) reportReachable();
  else schedule(Math.min(delayMs * 1.5, maxDelayMs));
}

function schedule(delayMs: number): void {
  clearTimeout(timer);
  timer = setTimeout(() => void probe(delayMs), delayMs);
}

/** Notes that a request had no answer, and asks again until there is one. */
export function reportUnreachable(): void {
  if (!isReachable) return;
  set(false);
  schedule(firstDelayMs);
}

/** Asks whether the server answers, after something other than a call had no answer, or a call has none for long. */
export async function checkReachable(): Promise<void> {
  if (!(await isAnswering())) reportUnreachable();
}

/** Notes that the server has answered, and asks it no more. */
export function reportReachable(): void {
  clearTimeout(timer);
  set(true);
}

/** Asks the server now instead of after the next delay. */
export const askNow = (): void => schedule(0);

/** Returns whether the last request had an answer. */
export const useIsReachable = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isReachable,
  );
