/**
 * Allocates memory for the rings of a table as blocks within chunks of at most 1 MB.
 *
 * Blocks are appended to the newest chunk. When it is full, the blocks of a chunk that is at least a quarter empty move
 * to the next chunk. A million replacements thus need little more memory than the live blocks, and no step moves more
 * than one chunk.
 */

const chunkBits = 17;
/** Doubles in the largest chunk: 1 MB. */
const maxChunkLength = 1 << chunkBits;
/** Doubles in the smallest chunk: 4 KB, for the many tables that hold a few rings. */
const minChunkLength = 1 << 9;
/** Doubles before a block's payload, for its owner and its length as two 32-bit integers. */
const headerLength = 1;
const freed = -1;
/** Maximum share of live doubles of a chunk that is evacuated. */
const worthEvacuating = 0.75;

/** One buffer with views of the types that blocks contain. */
class Chunk {
  readonly doubles: Float64Array;
  readonly shorts: Uint16Array;
  readonly integers: Int32Array;
  /** Used doubles from the start, live or freed. */
  used = 0;
  /** Doubles of live blocks. */
  alive = 0;

  constructor(readonly length: number) {
    const buffer = new ArrayBuffer(8 * length);
    this.doubles = new Float64Array(buffer);
    this.shorts = new Uint16Array(buffer);
    this.integers = new Int32Array(buffer);
  }
}

/** A block's address contains the chunk number and the offset of its payload in doubles. It changes only by `moved`. */
export class Arena {
  private readonly chunks: Chunk[] = [];
  /** Numbers of empty chunks. */
  private readonly spare: number[] = [];
  private newest = -1;

  /** `moved(owner, address)` is called when the block of an owner gets a new address. */
  constructor(private readonly moved: (owner: number, address: number) => void) {}

  /** Allocates `length` doubles for an owner (an integer that the caller chooses) and returns their address. */
  allocate(owner: number, length: number): number {
    const total = headerLength + length;
    if (total > maxChunkLength) throw new RangeError(`a block of ${length} doubles is larger than a chunk`);
    if (!this.fits(total)) this.open(total);
    return this.append(owner, total);
  }

  /** Frees a block. A chunk without blocks is used again. */
  free(address: number): void {
    const number = address >>> chunkBits;
    const chunk = this.chunks[number]!;
    const header = 2 * (this.offset(address) - headerLength);
    chunk.integers[header] = freed;
    chunk.alive -= chunk.integers[header + 1]!;
    if (chunk.alive > 0) return;
    chunk.used = 0;
    if (number !== this.newest) this.spare.push(number);
  }

  /** Returns the chunk's doubles. Those of the block begin at {@link offset}. */
  doubles(address: number): Float64Array {
    return this.chunks[address >>> chunkBits]!.doubles;
  }

  /** Returns the same memory as 16-bit integers, four per double. */
  shorts(address: number): Uint16Array {
    return this.chunks[address >>> chunkBits]!.shorts;
  }

  /** Returns the offset of a block within its chunk, in doubles. */
  offset(address: number): number {
    return address & (maxChunkLength - 1);
  }

  /** Returns the memory of all chunks, used or not. */
  bytes(): number {
    return this.chunks.reduce((sum, chunk) => sum + 8 * chunk.length, 0);
  }

  private fits(total: number): boolean {
    const chunk = this.chunks[this.newest];
    return chunk !== undefined && chunk.used + total <= chunk.length;
  }

  private append(owner: number, total: number): number {
    const chunk = this.chunks[this.newest]!;
    const at = chunk.used;
    chunk.integers[2 * at] = owner;
    chunk.integers[2 * at + 1] = total;
    chunk.used += total;
    chunk.alive += total;
    return this.newest * maxChunkLength + at + headerLength;
  }

  /**
   * Opens a new chunk with space for `total` doubles, and moves the live blocks of a sparse chunk there if both fit.
   */
  private open(total: number): void {
    const full = this.newest;
    this.newest = this.takeSpare(total) ?? this.create(total);
    if (full >= 0 && this.chunks[full]!.alive === 0) this.spare.push(full);
    const sparse = this.sparsest();
    if (sparse >= 0 && this.chunks[sparse]!.alive + total <= this.chunks[this.newest]!.length) this.evacuate(sparse);
  }

  private takeSpare(total: number): number | undefined {
    const at = this.spare.findIndex((number) => this.chunks[number]!.length >= total);
    return at < 0 ? undefined : this.spare.splice(at, 1)[0];
  }

  /**
   * Returns the length of the next chunk: as large as all chunks together, up to the maximum. The number of chunks
   * stays small, and large tables do not need twice their memory.
   */
  private create(total: number): number {
    let length = minChunkLength;
    while (length < maxChunkLength && (length < total || 8 * length < this.bytes())) length *= 2;
    this.chunks.push(new Chunk(length));
    return this.chunks.length - 1;
  }

  /** Returns the number of the chunk with the fewest live doubles if it is sparse enough to evacuate, else -1. */
  private sparsest(): number {
    let sparsest = -1;
    let least = worthEvacuating;
    for (const [number, chunk] of this.chunks.entries()) {
      const share = chunk.alive / chunk.length;
      if (number === this.newest || chunk.used === 0 || share > least) continue;
      sparsest = number;
      least = share;
    }
    return sparsest;
  }

  private evacuate(number: number): void {
    const from = this.chunks[number]!;
    const to = this.chunks[this.newest]!;
    for (let at = 0; at < from.used; ) {
      const owner = from.integers[2 * at]!;
      const total = from.integers[2 * at + 1]!;
      if (owner !== freed) {
        const address = this.append(owner, total);
        to.doubles.set(from.doubles.subarray(at + headerLength, at + total), this.offset(address));
        this.moved(owner, address);
      }
      at += total;
    }
    from.used = 0;
    from.alive = 0;
    this.spare.push(number);
  }
}
