/** Resolves the references of a request: its style and the icons of its markers. Pure. */
import type { FieldProblem } from '../../schemas/errors.js';
import { builtInStyles, isBuiltInStyle } from '../styles/names.js';
import type { MapRequest } from '../types.js';

/** Maximum number of different icons of a map. Each may be a request to another server. */
const maxIcons = 20;

/** References to uploads, by id. */
interface Uploaded {
  hasStyle(id: string): boolean;
  hasMarker(id: string): boolean;
}

const nothing: Uploaded = { hasStyle: () => false, hasMarker: () => false };

/** Returns whether an icon is named by its URL. Others are ids of uploads. */
export const isIconUrl = (icon: string): boolean => /^https?:\/\//i.test(icon);

const iconsOf = ({ markers }: Pick<MapRequest, 'markers'>): string[] =>
  [...new Set(markers.map(({ icon }) => icon))].filter((icon) => icon !== null);

/** Returns the distinct URLs of icons. */
export const iconUrls = (request: Pick<MapRequest, 'markers'>): string[] => iconsOf(request).filter(isIconUrl);

/** Returns the distinct icons that must be uploaded. */
export const iconIds = (request: Pick<MapRequest, 'markers'>): string[] =>
  iconsOf(request).filter((icon) => !isIconUrl(icon));

/** Returns the first reference to a missing upload, if any. */
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
