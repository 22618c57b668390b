/** All images that a map's style may name. */
import type { SpriteImage } from './sprite-image.js';

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

  get(name: string): SpriteImage | undefined {
    return this.images.get(name);
  }
}

export const noImages = new SpriteImages('', []);
