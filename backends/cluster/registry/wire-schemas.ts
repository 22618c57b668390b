/**
 * Translates schema ids between this process and Kafka.
 *
 * In the process, a frame has the internal id of its codec (`schemas/codecs.ts`) and the newest version. On the wire it
 * has the id that the registry assigned to that version under the topic's subject, so that any client can read it. Code
 * above the ports sees internal ids only.
 */
import type { Topic } from '../../../pipeline/ports.js';

/** Exchanges the schema ids of this program with those of the registry, in the first bytes of a value. */
export interface WireSchemas {
  /**
   * Puts the registry's id into a frame of this process, in place. Frames that have it, and other values, stay as they
   * are, so a second call has no effect. Frames from another process, such as those of its outbox, are in wire form
   * already.
   */
  toWire(topic: Topic, frame: Buffer): void;
  /**
   * Looks up unknown ids of these values, as `fromWire` requires. Retries during a short outage of the registry, and
   * rejects after a longer one. It also waits for the end of that while `waits` returns true. Default: never.
   */
  learn(topic: Topic, frames: Iterable<Buffer | null>, waits?: () => boolean): Promise<void>;
  /**
   * Returns the frame with its internal id. A frame of the newest version is changed in place; one of another version
   * is encoded again. Foreign values are returned unchanged, but never with the topic's internal id. Call it once per
   * frame: the result is no longer in wire form.
   */
  fromWire(topic: Topic, frame: Buffer): Buffer;
}
