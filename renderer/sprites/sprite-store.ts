/**
 * An LRU cache of decoded sprites.
 *
 * Input: untrusted files, as they were fetched. Output: their images and problems. Everything is bounded before it is
 * decoded.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type FieldProblem, invalid, type Validated } from '../../schemas/errors.js';
import { pngSize } from '../png/header.js';
import { loadSharp } from '../sharp.js';
import type { SpriteFile, Sprites } from '../types.js';
import { SpriteImage } from './sprite-image.js';
import { noImages, SpriteImages } from './sprite-images.js';
import { decodeSpriteIndex, type SpriteIndex } from './sprite-index.js';

/** Maximum pixels of a sprite's picture: 32 MB decoded. */
export const maxPicturePixels = 8_000_000;
const timeoutS = 2;
/** Maximum bytes of pictures and of the images cut out of them. */
const maxKeptBytes = 96 * 2 ** 20;
const entryBytes = 10_000;

interface DecodedSprites {
  readonly images: SpriteImages;
  /** Number of sprites that could not be fetched or read. */
  readonly missing: number;
}

/** Decodes sprites and keeps those of the latest maps. */
export class SpriteStore {
  /** Files that cannot be decoded are cached too. */
  private readonly kept = new LRUCache<string, DecodedSprites & { readonly weightBytes: number }>({
    maxSize: maxKeptBytes,
    sizeCalculation: ({ weightBytes }) => weightBytes,
  });

  /** Returns the images of all files. A file that cannot be decoded counts as missing. */
  async decode({ files, missing }: Sprites): Promise<DecodedSprites> {
    if (files.length === 0) return { images: noImages, missing };
    const key = keyOf(files);
    const decoded = this.kept.get(key) ?? (await this.decodeFiles(files, key));
    return { images: decoded.images, missing: missing + decoded.missing };
  }

  private async decodeFiles(files: readonly SpriteFile[], key: string): Promise<DecodedSprites> {
    const sprites = await Promise.all(files.map(imagesOf));
    const readable = sprites.filter((sprite) => sprite !== undefined);
    const images = new SpriteImages(
      key,
      readable.flatMap((sprite) => sprite.images),
    );
    // Images cut out of the picture take about as much memory again.
    const weightBytes = readable.reduce((sum, { pictureBytes }) => sum + 2 * pictureBytes, entryBytes);
    const decoded = { images, missing: files.length - readable.length, weightBytes };
    this.kept.set(key, decoded);
    return decoded;
  }
}

function keyOf(files: readonly SpriteFile[]): string {
  const hash = createHash('sha256');
  for (const { id, index, image } of files)
    hash.update(`${id} ${index.length} ${image.length} `).update(index).update(image);
  return hash.digest('base64');
}

/** Reads the index of a sprite whose picture is small enough to decode. */
export function readSpriteIndex({ index, image }: Pick<SpriteFile, 'index' | 'image'>): Validated<SpriteIndex> {
  const size = pngSize(image);
  if (!size || size.width * size.height > maxPicturePixels) {
    return invalid('', `must have a PNG of at most ${maxPicturePixels} pixels beside it`);
  }
  return decodeSpriteIndex(index, size);
}

/** Returns the name of a sprite's image in a style. */
export const nameInStyle = ({ id }: Pick<SpriteFile, 'id'>, name: string): string =>
  id === '' ? name : `${id}:${name}`;

/** Returns the problems of a sprite's index, or of single images. */
export function problemsOfSprite(index: Validated<SpriteIndex>): FieldProblem[] {
  return index.ok ? [...index.value.problems] : [index.problem];
}

async function imagesOf(file: SpriteFile): Promise<{ images: SpriteImage[]; pictureBytes: number } | undefined> {
  const index = readSpriteIndex(file);
  if (!index.ok) return undefined;
  const sharp = await loadSharp();
  try {
    const { data, info } = await sharp(file.image, { limitInputPixels: maxPicturePixels })
      .timeout({ seconds: timeoutS })
      .toColourspace('srgb')
      .ensureAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    const picture = { pixels: data, width: info.width };
    const images = [...index.value.entries].map(
      ([name, entry]) => new SpriteImage(nameInStyle(file, name), picture, entry),
    );
    return { images, pictureBytes: data.length };
  } catch {
    return undefined;
  }
}
