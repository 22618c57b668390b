/**
 * The newest encoded record per key, in buffers that are reused.
 *
 * Decoded records would survive from one generation of the garbage collector to the next, only to be replaced a moment
 * later; this took a third of the sink's thread.
 */
export class LatestFrames {
  readonly #slots = new Map<string, Slot>();
  readonly #maxKeys: number;
  #pending = 0;

  /** @param maxKeys Number of keys beyond which idle buffers are freed. */
  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  /** Number of keys whose frame has not been taken. */
  get pending(): number {
    return this.#pending;
  }

  /** Copies the frame. */
  set(key: string, frame: Buffer): void {
    const slot = this.#slots.get(key);
    if (slot === undefined || slot.buffer.length < frame.length) {
      this.#slots.set(key, newSlot(frame));
      if (!slot?.isPending) this.#pending += 1;
      return;
    }
    frame.copy(slot.buffer);
    slot.length = frame.length;
    if (slot.isPending) return;
    slot.isPending = true;
    this.#pending += 1;
  }

  /** Passes each pending frame to `use`; the frame is valid during the call only. */
  takeAll(use: (frame: Buffer) => void): void {
    for (const slot of this.#slots.values()) {
      if (!slot.isPending) continue;
      use(slot.buffer.subarray(0, slot.length));
      slot.isPending = false;
    }
    this.#pending = 0;
    if (this.#slots.size > this.#maxKeys) this.#slots.clear();
  }
}

interface Slot {
  readonly buffer: Buffer;
  length: number;
  isPending: boolean;
}

/** Allocates a buffer with space for a slightly longer next frame. */
function newSlot(frame: Buffer): Slot {
  const buffer = Buffer.allocUnsafeSlow(frame.length + 64);
  frame.copy(buffer);
  return { buffer, length: frame.length, isPending: true };
}
