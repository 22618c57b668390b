/** What a request names that must be there before anything is drawn: its style, and the icons of its markers. Pure. */
import type { FieldProblem } from '../../schemas/errors.js';
import { builtInStyles, isBuiltInStyle } from '../styles/names.js';
import type { MapRequest } from '../types.js';

/** Different ones of one map: each may be a request to somebody else's server. */
export const maxIcons = 20;

/** What of a request may be uploaded, by its id. */
export interface Uploaded {
  hasStyle(id: string): boolean;
  hasMarker(id: string): boolean;
}

const nothing: Uploaded = { hasStyle: () => false, hasMarker: () => false };

const isUrl = (icon: string): boolean => /^https?:\/\//i.test(icon);

const iconsOf = ({ markers }: Pick<MapRequest, 'markers'>): string[] =>
  [...new Set(markers.map(({ icon }) => icon))].filter((icon) => icon !== null);

/** The URLs of icons, each once. */
export const iconUrls = (request: Pick<MapRequest, 'markers'>): string[] => iconsOf(request).filter(isUrl);

/** The icons that must be uploaded, each once. */
export const iconIds = (request: Pick<MapRequest, 'markers'>): string[] =>
  iconsOf(request).filter((icon) => !isUrl(icon));

/** The first reference to something that isn't there, if there is one. */
export function referenceProblem(
  request: Pick<MapRequest, 'style' | 'markers'>,
  uploaded: Uploaded = nothing,
): FieldProblem | undefined {
  const { style } = request;
  if (!isBuiltInStyle(style) && !uploaded.hasStyle(style)) {
    return {
      param: 'style',
      rule: `must be one of ${builtInStyles.join(', ')}, or the id of an uploaded style; there is no style "${style}"`,
    };
  }
  if (iconsOf(request).length > maxIcons) {
    return { param: 'markers', rule: `must not have more than ${maxIcons} different icons` };
  }
  const missing = iconIds(request).find((id) => !uploaded.hasMarker(id));
  if (missing === undefined) return undefined;
  return {
    param: 'markers',
    rule: `option icon must be a URL that begins with http:// or https://, or the id of an uploaded marker; there is no marker "${missing}"`,
  };
}
