/**
 * Between the ids that frames carry inside a process and those that they carry in Kafka.
 *
 * Inside, a frame has the fixed id of its codec (`schemas/codecs.ts`) and is of the newest version. On the wire it has
 * the id that the registry gave that version under the topic's subject, so that any client can read it. Nothing above
 * the ports knows of the second.
 */
import type { Topic } from '../../../pipeline/ports.js';

export interface WireSchemas {
  /**
   * Puts the registry's id into a frame that a codec of this process wrote, in place. A frame that has it already, or
   * that is no frame of the topic, stays as it is; so a second call does nothing. What another process made, such as an
   * outbox it left, is in wire form: publish it as it is.
   */
  toWire(topic: Topic, frame: Buffer): void;
  /**
   * Finds out what the ids in these values mean, or that they mean nothing of ours, which `fromWire` needs. Asks the
   * registry about ids never seen and waits through a short outage of it; rejects when it stays away.
   */
  learn(topic: Topic, frames: Iterable<Buffer | null>): Promise<void>;
  /**
   * The frame as codecs read it. Written in place where it is of the newest version; one of another version of ours is
   * decoded and encoded anew. What isn't ours comes back unchanged, but never under the topic's fixed id. Once per
   * frame: the answer is no longer in wire form.
   */
  fromWire(topic: Topic, frame: Buffer): Buffer;
}
