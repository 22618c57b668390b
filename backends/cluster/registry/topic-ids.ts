/**
 * The ids in the frames of one topic: what each means, and how a frame gets from one side to the other.
 *
 * Flows in: ids with their schemas. Flows out: frames under the other side's ids. No I/O.
 */
import { type Codec, frameBytes } from '../../../schemas/codecs.js';
import { type Reading, readingOf } from './layout.js';

/** So long an id that meant nothing isn't asked about again. */
const foreignForMs = 60_000;
const maxForeignIds = 10_000;

export class TopicIds {
  readonly #codec: Codec<unknown>;
  readonly #writeId: number;
  readonly #readings = new Map<number, Reading>();
  /** Ids that mean nothing of ours, with the time at which that was found out. */
  readonly #foreign = new Map<number, number>();

  /** `writeId` is the registry's for the codec's own schema. */
  constructor(codec: Codec<unknown>, writeId: number) {
    this.#codec = codec;
    this.#writeId = writeId;
  }

  /** An id's first meaning stays. */
  learn(id: number, schema: string): void {
    if (!this.#readings.has(id)) this.#readings.set(id, readingOf(this.#codec.type, schema));
  }

  learnForeign(id: number, nowMs: number): void {
    if (this.#foreign.size >= maxForeignIds) this.#foreign.clear();
    this.#foreign.set(id, nowMs);
  }

  knows(id: number): boolean {
    return this.#readings.has(id);
  }

  canRead(schema: string): boolean {
    return readingOf(this.#codec.type, schema) !== 'unreadable';
  }

  /** Ids of these frames that nothing is known about, or nothing any more. */
  unknownIn(frames: Iterable<Buffer | null>): Set<number> {
    const unknown = new Set<number>();
    for (const frame of frames) {
      if (frame === null || !isFrame(frame)) continue;
      const id = idOf(frame);
      if (id !== this.#writeId && !this.#readings.has(id) && !this.#isForeign(id)) unknown.add(id);
    }
    return unknown;
  }

  toWire(frame: Buffer): void {
    if (isFrame(frame) && idOf(frame) === this.#codec.schemaId) setId(frame, this.#writeId);
  }

  fromWire(frame: Buffer): Buffer {
    if (!isFrame(frame)) return frame;
    const id = idOf(frame);
    const reading = id === this.#writeId ? 'same' : (this.#readings.get(id) ?? 'unreadable');
    if (reading === 'same') {
      setId(frame, this.#codec.schemaId);
      return frame;
    }
    return (reading !== 'unreadable' && this.#encodedAnew(frame, reading)) || this.#asForeign(frame, id);
  }

  #encodedAnew(frame: Buffer, resolver: Exclude<Reading, string>): Buffer | undefined {
    try {
      const { value, offset } = this.#codec.type.decode(frame, frameBytes, resolver);
      return offset === frame.length ? this.#codec.encode(value) : undefined;
    } catch {
      return undefined;
    }
  }

  /** The codec must not take it for its own. */
  #asForeign(frame: Buffer, id: number): Buffer {
    if (id === this.#codec.schemaId) setId(frame, 0);
    return frame;
  }

  #isForeign(id: number): boolean {
    const foundAtMs = this.#foreign.get(id);
    return foundAtMs !== undefined && Date.now() - foundAtMs < foreignForMs;
  }
}

const isFrame = (value: Buffer): boolean => value.length >= frameBytes && value[0] === 0;
const idOf = (frame: Buffer): number => frame.readUInt32BE(1);
/** Byte by byte, which is twice as fast as `writeUInt32BE`: it is done to every record. */
function setId(frame: Buffer, id: number): void {
  frame[1] = id >>> 24;
  frame[2] = id >>> 16;
  frame[3] = id >>> 8;
  frame[4] = id;
}
