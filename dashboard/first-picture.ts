/** The last picture of a map in the first picture of the page, before the code of the view is there. */
import { storedStyle, styleOf, styleOfTheme } from './components/map-look';
import { readAddress, writeAddress } from './drawing/map-address';
import { framedPicture, subjectOf } from './state/map-picture';
import { rememberedScope } from './state/remembered';
import { currentTheme } from './state/theme';

function pictureOf(path: string, query: string): HTMLImageElement | undefined {
  const scope = rememberedScope();
  if (scope === undefined) return undefined;
  const theme = currentTheme();
  if (path === '/live') return framedPicture('live', subjectOf(scope, styleOfTheme(theme)));
  const { view, selection } = readAddress(query);
  // A form beside the map would cover a part of it.
  if (path !== '/map' || selection !== undefined) return undefined;
  return framedPicture('map', subjectOf(scope, styleOf(storedStyle(), theme), writeAddress({ view, selection })));
}

/** Adds the picture to the frame of the page, which the document has. The page replaces both. */
export function showFirstPicture(): void {
  const picture = pictureOf(location.pathname, location.search);
  if (picture) document.querySelector('.splash')?.append(picture);
}
