/** Draws images of the built-in styles at the scale of a map, so that they are sharp at every scale. */
import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import { SpriteImage, type SpritePicture } from './sprite-image.js';
import { SpriteImages } from './sprite-images.js';
import type { SpriteEntry } from './sprite-index.js';

/** An image to draw. Lengths are CSS pixels. */
export interface Drawing {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** Set for an image that is stretched to fit a text: its fixed edges, and the edges around the text. */
  readonly frame?: { readonly fixed: number; readonly across: number; readonly down: number };
  /** Draws the image. The context's unit is the CSS pixel; the image is from 0 to its width and height. */
  paint(context: SKRSContext2D): void;
}

/** A picture with all images beside each other, and their positions, as in the two files of a sprite. */
export interface DrawnSheet {
  readonly picture: SpritePicture & { readonly height: number };
  readonly entries: ReadonlyMap<string, SpriteEntry>;
}

/** Free pixels between images. */
const gapPx = 1;

/** Draws the images with this many pixels per CSS pixel. */
export function drawSheet(drawings: readonly Drawing[], pixelRatio: number): DrawnSheet {
  const px = (length: number) => Math.max(1, Math.round(length * pixelRatio));
  const width = drawings.reduce((sum, drawing) => sum + px(drawing.width) + gapPx, 1);
  const height = drawings.reduce((most, drawing) => Math.max(most, px(drawing.height)), 1);
  const canvas = createCanvas(width, height);
  const context = canvas.getContext('2d');
  const entries = new Map<string, SpriteEntry>();
  let left = 0;
  for (const drawing of drawings) {
    const [own, high] = [px(drawing.width), px(drawing.height)];
    context.save();
    context.setTransform(own / drawing.width, 0, 0, high / drawing.height, left, 0);
    drawing.paint(context);
    context.restore();
    entries.set(drawing.name, { x: left, y: 0, width: own, height: high, pixelRatio, sdf: false, ...framing(drawing) });
    left += own + gapPx;
  }
  return {
    picture: { pixels: Uint8Array.from(context.getImageData(0, 0, width, height).data), width, height },
    entries,
  };

  function framing({ frame, width: wide, height: high }: Drawing): Omit<SpriteEntry, keyof Placed> {
    if (!frame) return { stretchX: null, stretchY: null, content: null };
    const { fixed, across, down } = frame;
    return {
      stretchX: [[px(fixed), px(wide) - px(fixed)]],
      stretchY: [[px(fixed), px(high) - px(fixed)]],
      content: [px(across), px(down), px(wide) - px(across), px(high) - px(down)],
    };
  }
}

type Placed = Pick<SpriteEntry, 'x' | 'y' | 'width' | 'height' | 'pixelRatio' | 'sdf'>;

/** Returns the images. `key` identifies the drawings. */
export function drawnImages(key: string, drawings: readonly Drawing[], pixelRatio: number): SpriteImages {
  const { picture, entries } = drawSheet(drawings, pixelRatio);
  return new SpriteImages(
    `${key} ${pixelRatio}`,
    [...entries].map(([name, entry]) => new SpriteImage(name, picture, entry)),
  );
}
