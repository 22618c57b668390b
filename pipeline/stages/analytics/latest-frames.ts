/**
 * The newest encoded record per key, in buffers that are written over again and again.
 *
 * Keeping the decoded record instead would carry its every part from one generation of the garbage collector into the
 * next, only to be replaced a moment later: that took a third of the sink's thread.
 */
export class LatestFrames {
  readonly #slots = new Map<string, Slot>();
  readonly #maxKeys: number;
  #waiting = 0;

  /** Beyond `maxKeys` the buffers of those who don't wait are given up. */
  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  /** Keys whose frame has not been taken. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Copies the frame. */
  set(key: string, frame: Buffer): void {
    const slot = this.#slots.get(key);
    if (slot === undefined || slot.buffer.length < frame.length) {
      this.#slots.set(key, newSlot(frame));
      if (!slot?.isWaiting) this.#waiting += 1;
      return;
    }
    frame.copy(slot.buffer);
    slot.length = frame.length;
    if (slot.isWaiting) return;
    slot.isWaiting = true;
    this.#waiting += 1;
  }

  /** Hands over each frame that waits; it is valid during the call only. */
  takeAll(use: (frame: Buffer) => void): void {
    for (const slot of this.#slots.values()) {
      if (!slot.isWaiting) continue;
      use(slot.buffer.subarray(0, slot.length));
      slot.isWaiting = false;
    }
    this.#waiting = 0;
    if (this.#slots.size > this.#maxKeys) this.#slots.clear();
  }
}

interface Slot {
  readonly buffer: Buffer;
  length: number;
  isWaiting: boolean;
}

/** Room for the next frame of the key to be somewhat longer. */
function newSlot(frame: Buffer): Slot {
  const buffer = Buffer.allocUnsafeSlow(frame.length + 64);
  frame.copy(buffer);
  return { buffer, length: frame.length, isWaiting: true };
}
