/** The part of @mapbox/tiny-sdf that is used. The package has no types. */
declare module '@mapbox/tiny-sdf' {
  import type { Canvas, SKRSContext2D } from '@napi-rs/canvas';

  export interface Field {
    /** Distances with the border, row by row. */
    readonly data: Uint8ClampedArray;
    readonly width: number;
    readonly height: number;
    /** Size without the border. */
    readonly glyphWidth: number;
    readonly glyphHeight: number;
    /** Pixels from the baseline up to the top. */
    readonly glyphTop: number;
    readonly glyphLeft: number;
    readonly glyphAdvance: number;
  }

  export default class TinySDF {
    constructor(options: {
      readonly fontSize: number;
      readonly buffer: number;
      readonly radius?: number;
      readonly cutoff?: number;
    });
    /** Side of the square that letters must fit. */
    protected readonly maxGlyphDim: number;
    protected readonly ctx: SKRSContext2D;
    protected _createCanvas(side: number): Canvas;
    draw(character: string): Field;
  }
}
