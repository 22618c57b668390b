/** A list of points that grows and is used again. Pure. */

/** Coordinates are whole numbers of these parts of a pixel: 2 to this power. */
const subpixelBits = 8;
/** Subpixels of a pixel, in each direction. */
export const subpixels = 2 ** subpixelBits;

/** Points in whole subpixels. */
export class Points {
  /** Alternating x and y, in whole subpixels. */
  xy = new Float64Array(256);
  /** Numbers of `xy` that are in use. */
  length = 0;

  /** Adds a point in pixels. */
  add(x: number, y: number): void {
    if (this.length + 2 > this.xy.length) this.grow();
    this.xy[this.length++] = Math.floor(x * subpixels + 0.5);
    this.xy[this.length++] = Math.floor(y * subpixels + 0.5);
  }

  /** Adds the points of another list, the last first. */
  addReversed({ xy, length }: Points): void {
    while (this.length + length > this.xy.length) this.grow();
    for (let i = length - 2; i >= 0; i -= 2) {
      this.xy[this.length++] = xy[i]!;
      this.xy[this.length++] = xy[i + 1]!;
    }
  }

  private grow(): void {
    const xy = new Float64Array(2 * this.xy.length);
    xy.set(this.xy);
    this.xy = xy;
  }
}
