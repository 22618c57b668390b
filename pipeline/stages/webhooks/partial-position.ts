/**
 * A position within an event that too many webhooks want for one write: it says which of them have it. The queue stores
 * it behind the mark of the position, as `mark/webhook/offset`, and knows nothing of it.
 */
import type { Position } from '../../ports.js';

/** Deliveries of the first events after a position that are queued already. */
export interface Queued {
  /** Webhooks with an id up to this one have them. */
  readonly webhook: string;
  /** Events before this offset. */
  readonly untilOffset: number;
}

/** The position of a queue, with what is queued already of the record that it stands before. */
export interface PartialPosition extends Position {
  /** Null: no delivery of a later event is queued. */
  readonly queued: Queued | null;
}

const storedPattern = /^(.*)\/([0-9a-f]{24})\/(\d+)$/;

/** Returns the text that the queue stores as the mark. */
export const storedMarkOf = ({ mark, queued }: PartialPosition): string | null =>
  queued === null ? mark : `${mark ?? ''}/${queued.webhook}/${queued.untilOffset}`;

/** Returns the position that the queue stores. */
export function storedPosition(offset: number, text: string | null): PartialPosition {
  const [, mark, webhook, untilOffset] = storedPattern.exec(text ?? '') ?? [];
  if (webhook === undefined) return { offset, mark: text, queued: null };
  return { offset, mark: mark || null, queued: { webhook, untilOffset: Number(untilOffset) } };
}

/** Returns whether the delivery of an event is queued already. */
export const isQueued = (queued: Queued | null, offset: number, webhook: string): boolean =>
  queued !== null && offset < queued.untilOffset && webhook <= queued.webhook;
