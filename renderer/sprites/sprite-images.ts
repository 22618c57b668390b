/** All images that a map's style may name. */
import type { SpriteImage } from './sprite-image.js';

/** Images by name. */
export class SpriteImages {
  /** Names, as the style's expressions need them. */
  readonly names: string[];
  private readonly images: ReadonlyMap<string, SpriteImage>;

  /** Creates a set of images. `key` is equal for equal images. */
  constructor(
    readonly key: string,
    images: readonly SpriteImage[],
  ) {
    this.images = new Map(images.map((image) => [image.name, image]));
    this.names = [...this.images.keys()];
  }

  /** Returns the image; undefined if the style names one that no sprite has. */
  get(name: string): SpriteImage | undefined {
    return this.images.get(name);
  }
}

/** The images of a style without a sprite. */
export const noImages = new SpriteImages('', []);
