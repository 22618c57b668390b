/** Finds problems of a style's sprites and missing images, to report in the answer to the upload. Pure. */
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import type { Unsupported } from '../style/unsupported.js';
import type { SpriteFile, Sprites } from '../types.js';
import { missingNames } from './missing-names.js';
import { nameInStyle, problemsOfSprite, readSpriteIndex } from './sprite-store.js';

/** Maximum number of problems of one kind. */
const maxProblems = 20;

interface ReadSprite {
  readonly file: SpriteFile;
  readonly index: ReturnType<typeof readSpriteIndex>;
}

/** Returns the problems in the order in which the answer lists them; none if everything is drawn. */
export function checkSprites(style: StyleSpecification, { files, missing }: Sprites): Unsupported[] {
  const sprites = files.map((file): ReadSprite => ({ file, index: readSpriteIndex(file) }));
  const problems = sprites.flatMap(problemsOf);
  if (missing > 0) {
    const message = `${missing} could not be fetched; maps are drawn without until it can be`;
    return [{ layer: null, property: 'sprite', message }, ...problems];
  }
  const names = namesIn(sprites);
  const lost = names === null ? [] : missingNames(style, names);
  return [...problems, ...firstOf(lost, (more) => ({ layer: null, property: 'sprite', message: more }))];
}

/** Returns the image names, or null when a sprite could not be read. */
function namesIn(sprites: readonly ReadSprite[]): ReadonlySet<string> | null {
  const names = new Set<string>();
  for (const { file, index } of sprites) {
    if (!index.ok) return null;
    for (const name of index.value.entries.keys()) names.add(nameInStyle(file, name));
  }
  return names;
}

function problemsOf({ file, index }: ReadSprite): readonly Unsupported[] {
  const property = file.id === '' ? 'sprite' : `sprite.${file.id}`;
  const problems = problemsOfSprite(index).map(({ param, rule }): Unsupported => {
    return { layer: null, property, message: `${param === '' ? 'Not read: it' : param} ${rule}` };
  });
  return firstOf(problems, (message) => ({ layer: null, property, message }));
}

function firstOf(problems: readonly Unsupported[], more: (message: string) => Unsupported): readonly Unsupported[] {
  const untold = problems.length - maxProblems;
  return untold > 0 ? [...problems.slice(0, maxProblems), more(`and ${untold} more`)] : problems;
}
