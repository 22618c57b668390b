/** Tells where the local names of a map are in a language, so that they need no tag of it. Pure. */
import type { Bounds, Viewport } from '../types.js';
import { isIn } from '../view/projection.js';

/**
 * Areas in which most local names are in the language, as west, south, east and north. They reach over borders, but not
 * into another script. Inside, a local name is shown in place of an English one, where it has no name in the language.
 * Languages with a script of their own need no area.
 */
const table: Readonly<Record<string, string>> = {
  bg: '22.3,41.7,28.7,44.2',
  ca: '0.1,38.6,4.4,42.9',
  cs: '12.1,48.5,18.9,51.1',
  da: '8,54.5,15.2,57.8',
  de: '5.9,47.3,15,55; 9.5,46.4,17,49',
  es: '-9.3,36,0,43.8; 0,38.6,4.4,43; -117,14.5,-86.7,32.5; -92,7,-77,18; -85,17.5,-65.2,23.3; -81.5,-56,-57,12.5',
  et: '21.7,57.6,27.4,59.7',
  fi: '21,59.8,29.3,70',
  fr: '-5,42.3,7.6,51.1; 8.5,41.3,9.6,43.1; -79.5,45,-57,53',
  hr: '13.4,42.4,19.5,46.6',
  hu: '16.1,45.7,22.2,48.5',
  id: '95,-11,141,6',
  is: '-24.6,63.2,-13.4,66.6',
  it: '6.6,43.6,14,47; 8,38.8,14,43.6; 11.9,36.6,18.6,43',
  lt: '20.9,53.9,25.5,56.4',
  lv: '20.9,55.9,27.5,58',
  ms: '99.6,0.8,119.3,6.3',
  nb: '4.5,57.9,12.5,64.5; 11,64.5,16,68; 14,68,26,71.2',
  nl: '2.5,50.7,7.2,53.6',
  no: '4.5,57.9,12.5,64.5; 11,64.5,16,68; 14,68,26,71.2',
  pl: '14.1,49.1,23.4,54.9',
  pt: '-9.5,36.9,-6.2,42.2; -73,-33.8,-34.8,5',
  ro: '20.8,45,27.5,47.9; 22.9,44.1,28.6,45.2; 27,46,29.4,47.5',
  ru: '27.3,53.6,180,82; 36,43.5,48,53.6',
  sk: '16.8,47.7,22.2,49.6',
  sl: '13.4,45.4,16.6,46.9',
  sr: '18.8,42.2,23,46.2',
  sv: '11,55.3,24.2,69.1',
  tr: '27.5,36.8,42,41.2; 26.2,40,29.5,42',
  uk: '22.1,44.3,40.2,52.4',
  vi: '103,20.8,108,23; 105,18.2,107,20.8; 107.4,10.5,109.5,17.5; 105.5,8.5,109,11',
};

const areas = new Map(
  Object.entries(table).map(([language, boxes]) => [
    language,
    boxes.split('; ').map((box) => box.split(',').map(Number) as unknown as Bounds),
  ]),
);

/** Views of lower zooms show several countries. */
const minZoom = 8;

/** Returns whether local names in a view are in the language. */
export function isSpokenIn(language: string, { center, zoom }: Pick<Viewport, 'center' | 'zoom'>): boolean {
  return zoom >= minZoom && (areas.get(language) ?? []).some((area) => isIn(area, center));
}
