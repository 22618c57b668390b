/**
 * Builds the URLs of a style's sprites: two files for each of two densities.
 *
 * Input: the `sprite` of a valid style. Output: URLs, or the reason why one is not loaded. Pure.
 */
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';

/** One of a style's sprites. */
export interface SpritePlace {
  /** Prefix of image names, before a colon; empty for the default sprite, whose names have no prefix. */
  readonly id: string;
  readonly url: string;
}

/** The files of a sprite in one density. */
export interface SpriteUrls {
  readonly index: string;
  readonly image: string;
}

/** Maximum number of sprites of a style. */
export const maxSprites = 8;

type Sprite = StyleSpecification['sprite'];

/** Returns the sprites that are loaded. */
export const spritePlaces = (sprite: Sprite): SpritePlace[] =>
  placesOf(sprite).filter((place, i) => problemOf(place, i) === null);

/** Returns why other sprites are not loaded. */
export function spriteProblems(sprite: Sprite): string[] {
  return placesOf(sprite).flatMap((place, i) => {
    const problem = problemOf(place, i);
    return problem === null ? [] : [`Not loaded from ${place.url}: ${problem}`];
  });
}

function placesOf(sprite: Sprite): SpritePlace[] {
  if (sprite === undefined) return [];
  if (typeof sprite === 'string') return [{ id: '', url: sprite }];
  return sprite.map(({ id, url }) => ({ id: id === 'default' ? '' : id, url }));
}

function problemOf({ url }: SpritePlace, number: number): string | null {
  if (number >= maxSprites) return `a style may have ${maxSprites} sprites`;
  return /^https?:\/\/[^/]/i.test(url) ? null : 'only URLs of http and https are';
}

/** Returns the files for maps of this scale, the preferred ones first. Files of double density end in `@2x`. */
export function spriteUrls(url: string, scale: number): readonly [SpriteUrls, SpriteUrls] {
  const [, path = '', query = ''] = /^([^?#]*)(\?[^#]*)?/.exec(url) ?? [];
  const filesOf = (density: string) => ({
    index: `${path}${density}.json${query}`,
    image: `${path}${density}.png${query}`,
  });
  return scale > 1 ? [filesOf('@2x'), filesOf('')] : [filesOf(''), filesOf('@2x')];
}
