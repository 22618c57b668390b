/** Replaces schema ids in the frames of one topic: internal ids by the registry's, and back. No I/O. */
import { type Codec, frameBytes } from '../../../schemas/codecs.js';
import { hasElapsed } from '../../../schemas/durations.js';
import { type Reading, readingOf } from './layout.js';

/** How long an id without a meaning is not looked up again. */
const foreignRetryMs = 60_000;
const maxForeignIds = 10_000;

/** What is known of the ids in one topic. */
export class TopicIds {
  readonly #codec: Codec<unknown>;
  readonly #writeId: number;
  readonly #readings = new Map<number, Reading>();
  /** Ids that are not ours, with the time of the lookup. */
  readonly #foreign = new Map<number, number>();

  /** `writeId` is the registry's id of the codec's schema. */
  constructor(codec: Codec<unknown>, writeId: number) {
    this.#codec = codec;
    this.#writeId = writeId;
  }

  /** Keeps the first meaning of an id. */
  learn(id: number, schema: string): void {
    if (!this.#readings.has(id)) this.#readings.set(id, readingOf(this.#codec.type, schema));
  }

  /** Keeps an id as that of a schema which this release cannot read. It is asked for again later. */
  learnForeign(id: number, nowMs: number): void {
    if (this.#foreign.size >= maxForeignIds) this.#foreign.clear();
    this.#foreign.set(id, nowMs);
  }

  /** Returns whether frames with the id can be read without asking the registry. */
  knows(id: number): boolean {
    return this.#readings.has(id);
  }

  /** Returns whether a schema, as JSON text, resolves to the topic's own. */
  canRead(schema: string): boolean {
    return readingOf(this.#codec.type, schema) !== 'unreadable';
  }

  /** Returns the ids of the frames that must be looked up. */
  unknownIn(frames: Iterable<Buffer | null>): Set<number> {
    const unknown = new Set<number>();
    for (const frame of frames) {
      if (frame === null || !isFrame(frame)) continue;
      const id = idOf(frame);
      if (id !== this.#writeId && !this.#readings.has(id) && !this.#isForeign(id)) unknown.add(id);
    }
    return unknown;
  }

  /** Replaces the internal id in place. */
  toWire(frame: Buffer): void {
    if (isFrame(frame) && idOf(frame) === this.#codec.schemaId) setId(frame, this.#writeId);
  }

  /** Returns the frame with the internal id, encoded again if it has an older schema. Changes the given frame. */
  fromWire(frame: Buffer): Buffer {
    if (!isFrame(frame)) return frame;
    const id = idOf(frame);
    const reading = id === this.#writeId ? 'same' : (this.#readings.get(id) ?? 'unreadable');
    if (reading === 'same') {
      setId(frame, this.#codec.schemaId);
      return frame;
    }
    return (reading !== 'unreadable' && this.#reencode(frame, reading)) || this.#asForeign(frame, id);
  }

  #reencode(frame: Buffer, resolver: Exclude<Reading, string>): Buffer | undefined {
    try {
      const { value, offset } = this.#codec.type.decode(frame, frameBytes, resolver);
      return offset === frame.length ? this.#codec.encode(value) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Makes sure that the codec does not take the frame for its own, of this or an older version. */
  #asForeign(frame: Buffer, id: number): Buffer {
    if (this.#codec.readableIds.has(id)) setId(frame, 0);
    return frame;
  }

  #isForeign(id: number): boolean {
    const foundAtMs = this.#foreign.get(id);
    return foundAtMs !== undefined && !hasElapsed(foreignRetryMs, foundAtMs, Date.now());
  }
}

const isFrame = (value: Buffer): boolean => value.length >= frameBytes && value[0] === 0;
const idOf = (frame: Buffer): number => frame.readUInt32BE(1);
/** Writes byte by byte, twice as fast as `writeUInt32BE`. It runs for every record. */
function setId(frame: Buffer, id: number): void {
  frame[1] = id >>> 24;
  frame[2] = id >>> 16;
  frame[3] = id >>> 8;
  frame[4] = id;
}
