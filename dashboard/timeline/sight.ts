/** What the map of a timeline shows. Pure. */
import { frameOf } from '../drawing/antimeridian';
import { distanceM, type Position } from '../drawing/shape';

/** A geofence that is wider by more than this would make the path a dot. */
const maxTimesAsWide = 4;
/** The width that every geofence may have: the path of a device that did not move has none. */
const minWidthM = 2_000;

/** Returns the length of the diagonal of the smallest box around the positions, in metres. */
function widthOf(positions: readonly Position[]): number {
  const [southWest, northEast] = frameOf(positions) ?? [];
  return southWest && northEast ? distanceM(southWest, northEast) : 0;
}

/**
 * Returns the positions that must be in sight: the locations, and the outlines of geofences, so that no edge is cut. It
 * leaves out a geofence that is much wider than the way through it, because a country would hide the path.
 */
export function sightOf(
  locations: readonly Position[],
  outlines: readonly (readonly Position[])[],
): readonly Position[] {
  const maxM = Math.max(minWidthM, maxTimesAsWide * widthOf(locations));
  return [...locations, ...outlines.filter((outline) => widthOf(outline) <= maxM).flat()];
}
