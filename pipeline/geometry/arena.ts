/**
 * Space for the rings of a table: blocks in chunks of at most 1 MB, which never straddle a chunk.
 *
 * Blocks are appended to the newest chunk. When it is full, a chunk that is a quarter empty is evacuated into its
 * successor, so a million replacements cost little more memory than what lives, and no step moves more than one chunk.
 */

const chunkBits = 17;
/** Doubles in the largest chunk: 1 MB. */
const maxChunkLength = 1 << chunkBits;
/** Doubles in the smallest chunk: 4 KB, for the many tables that hold a few rings. */
const minChunkLength = 1 << 9;
/** Doubles before a block's payload: its owner and its length, two 32-bit integers. */
const headerLength = 1;
const freed = -1;
/** A chunk with at most this share of it alive is worth evacuating. */
const worthEvacuating = 0.75;

/** One buffer, seen as the types that blocks hold. */
class Chunk {
  readonly doubles: Float64Array;
  readonly shorts: Uint16Array;
  readonly integers: Int32Array;
  /** Doubles from the start that are taken, alive or not. */
  used = 0;
  /** Doubles of blocks that are alive. */
  alive = 0;

  constructor(readonly length: number) {
    const buffer = new ArrayBuffer(8 * length);
    this.doubles = new Float64Array(buffer);
    this.shorts = new Uint16Array(buffer);
    this.integers = new Int32Array(buffer);
  }
}

/** A block's address names its payload: chunk number and offset in doubles. It changes only as `moved` tells. */
export class Arena {
  private readonly chunks: Chunk[] = [];
  /** Numbers of empty chunks. */
  private readonly spare: number[] = [];
  private newest = -1;

  /** `moved(owner, address)`: the block of that owner has a new address. */
  constructor(private readonly moved: (owner: number, address: number) => void) {}

  /** Reserves `length` doubles for an owner (an integer of its choosing) and returns their address. */
  allocate(owner: number, length: number): number {
    const total = headerLength + length;
    if (total > maxChunkLength) throw new RangeError(`A block of ${length} doubles is larger than a chunk`);
    if (!this.fits(total)) this.open(total);
    return this.append(owner, total);
  }

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

  /** The chunk's doubles; those of the block begin at {@link offset}. */
  doubles(address: number): Float64Array {
    return this.chunks[address >>> chunkBits]!.doubles;
  }

  /** The same memory as 16-bit integers, four to a double. */
  shorts(address: number): Uint16Array {
    return this.chunks[address >>> chunkBits]!.shorts;
  }

  offset(address: number): number {
    return address & (maxChunkLength - 1);
  }

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
   * Makes room for `total` doubles at the end of a fresh chunk, and moves what is left of a sparse one there if both
   * fit.
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
   * As large as all there is, so that the number of chunks stays small without taking twice the memory of a large
   * table.
   */
  private create(total: number): number {
    let length = minChunkLength;
    while (length < maxChunkLength && (length < total || 8 * length < this.bytes())) length *= 2;
    this.chunks.push(new Chunk(length));
    return this.chunks.length - 1;
  }

  /** The number of the chunk with the least alive in it, if that is worth evacuating; else -1. */
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
