/** The colour adjustments of raster layers. Pure. */

/** Adjustments as the style specification defines them for raster layers. */
export interface RasterColor {
  /** Rotation of the hue, in degrees. */
  readonly hueRotate: number;
  /** −1 to 1, 0 for no change. */
  readonly saturation: number;
  readonly contrast: number;
  /** Brightness of black and of white, 0 to 1. */
  readonly brightnessMin: number;
  readonly brightnessMax: number;
}

/** Factors of red, green and blue, and a constant, for each channel of the result. */
export type ColorMatrix = readonly (readonly [red: number, green: number, blue: number, constant: number])[];

/** Returns the matrix for channels of 0 to 255, or null when it would change nothing. */
export function colorMatrix(color: RasterColor): ColorMatrix | null {
  const { hueRotate, saturation, contrast, brightnessMin, brightnessMax } = color;
  const isPlain = saturation === 0 && contrast === 0 && brightnessMin === 0 && brightnessMax === 1;
  if (isPlain && hueRotate % 360 === 0) return null;
  const gray = saturation > 0 ? 1 - 1 / (1.001 - saturation) : -saturation;
  const steepness = contrast > 0 ? 1 / Math.max(1e-3, 1 - contrast) : 1 + contrast;
  const range = brightnessMax - brightnessMin;
  const constant = 255 * (range * (0.5 - 0.5 * steepness) + brightnessMin);
  return hueRotation(hueRotate).map((weights) => {
    const mixed = weights.map((weight) => range * steepness * ((1 - gray) * weight + gray / 3));
    return [mixed[0]!, mixed[1]!, mixed[2]!, constant] as const;
  });
}

/** Returns the rotation about the axis of greys. */
function hueRotation(degrees: number): number[][] {
  const sin = Math.sqrt(3) * Math.sin((degrees * Math.PI) / 180);
  const cos = Math.cos((degrees * Math.PI) / 180);
  const [a, b, c] = [(2 * cos + 1) / 3, (1 - cos - sin) / 3, (1 - cos + sin) / 3] as const;
  return [
    [a, b, c],
    [c, a, b],
    [b, c, a],
  ];
}

/** Changes pixels of red, green, blue and opacity in place. */
export function adjustColors(pixels: Uint8ClampedArray, [red, green, blue]: ColorMatrix): void {
  for (let i = 0; i < pixels.length; i += 4) {
    const [r, g, b] = [pixels[i]!, pixels[i + 1]!, pixels[i + 2]!];
    pixels[i] = red![0] * r + red![1] * g + red![2] * b + red![3];
    pixels[i + 1] = green![0] * r + green![1] * g + green![2] * b + green![3];
    pixels[i + 2] = blue![0] * r + blue![1] * g + blue![2] * b + blue![3];
  }
}
