/**
 * Memory of pictures that one map after the other uses. Fresh memory is in no processor cache, and the runtime would
 * free the memory of large maps late.
 */

/** Memory that is larger than what is needed by more than this factor is left for larger pictures. */
const maxExcess = 4;
/** Typed arrays of all kinds begin and end at such a multiple of bytes. */
const alignment = 8;

/** Memory that is taken and given back. */
export class ReusedMemory<Memory extends { readonly byteLength: number }> {
  /** The memory that was given back last comes last. */
  private readonly free: Memory[] = [];
  private freeBytes = 0;

  /** Creates a store that keeps at most this many bytes, the last used. `create` makes memory of so many bytes. */
  constructor(
    private readonly maxFreeBytes: number,
    private readonly create: (bytes: number) => Memory,
  ) {}

  /** Returns at least this many bytes. Their content is undefined. */
  take(bytes: number): Memory {
    const size = Math.ceil(bytes / alignment) * alignment;
    const found = this.free.findLastIndex(({ byteLength }) => byteLength >= size && byteLength <= maxExcess * size);
    if (found < 0) return this.create(size);
    const [memory] = this.free.splice(found, 1);
    this.freeBytes -= memory!.byteLength;
    return memory!;
  }

  /** Takes back memory that nobody uses any more. */
  giveBack(memory: Memory): void {
    this.free.push(memory);
    this.freeBytes += memory.byteLength;
    while (this.freeBytes > this.maxFreeBytes) this.freeBytes -= this.free.shift()!.byteLength;
  }
}

/** Enough for two maps of 600 by 400 at scale 2. */
const maxFreeBytes = 2 * 2 ** 20;

/** Memory for the rows of PNG files. */
export const encodingMemory = new ReusedMemory(maxFreeBytes, (bytes) => new ArrayBuffer(bytes));
