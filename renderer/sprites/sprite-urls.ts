/**
 * Where a style's sprites lie: their two files, for each of two densities.
 *
 * Flows in: the `sprite` of a style that passed validation. Flows out: URLs, or why one is not asked for. Pure.
 */
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';

/** One of a style's sprites. */
export interface SpritePlace {
  /**
   * What names of its images begin with, before a colon; empty for the default one, whose names have nothing before
   * them.
   */
  readonly id: string;
  readonly url: string;
}

/** The files of a sprite of one density. */
export interface SpriteUrls {
  readonly index: string;
  readonly image: string;
}

/** Of one style. */
export const maxSprites = 8;

type Sprite = StyleSpecification['sprite'];

/** Those that are loaded. */
export const spritePlaces = (sprite: Sprite): SpritePlace[] =>
  placesOf(sprite).filter((place, i) => problemOf(place, i) === null);

/** Why others are not, if there are any. */
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

/** The files for maps of this scale, the ones to prefer first: those of double density end in `@2x`. */
export function spriteUrls(url: string, scale: number): readonly [SpriteUrls, SpriteUrls] {
  const [, path = '', query = ''] = /^([^?#]*)(\?[^#]*)?/.exec(url) ?? [];
  const filesOf = (density: string) => ({
    index: `${path}${density}.json${query}`,
    image: `${path}${density}.png${query}`,
  });
  return scale > 1 ? [filesOf('@2x'), filesOf('')] : [filesOf(''), filesOf('@2x')];
}
