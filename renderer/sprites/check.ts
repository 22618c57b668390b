/** What of a style's sprites isn't drawn: told to whoever uploads the style, with what the style itself asks for in vain. Pure. */
import type { Unsupported } from '../style/unsupported.js';
import type { SpriteFile, Sprites } from '../types.js';
import { problemsOfSprite } from './sprite-store.js';

/** Of one sprite; more say nothing new. */
const maxProblems = 20;

export function checkSprites({ files, missing }: Sprites): Unsupported[] {
  const problems = files.flatMap(problemsOf);
  if (missing === 0) return problems;
  const message = `${missing} could not be fetched just now; maps are drawn without until it can be`;
  return [{ layer: null, property: 'sprite', message }, ...problems];
}

function problemsOf(file: SpriteFile): Unsupported[] {
  const problems = problemsOfSprite(file).map(({ param, rule }) => `${param === '' ? 'Not read: it' : param} ${rule}`);
  const more = problems.length - maxProblems;
  const told = more > 0 ? [...problems.slice(0, maxProblems), `and ${more} more`] : problems;
  const property = file.id === '' ? 'sprite' : `sprite.${file.id}`;
  return told.map((message): Unsupported => ({ layer: null, property, message }));
}
