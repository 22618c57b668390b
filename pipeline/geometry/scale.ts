/**
 * Distances on the WGS84 ellipsoid, cheap enough for every location.
 *
 * Up to latitude 79: metres per degree at the mean latitude of the two points. Within 10 km the result differs from the
 * geodesic by less than 0.1 m. Above, where meridians run together, the chord between the two points in
 * space, lengthened to its arc: right to a millimetre up to and over the pole.
 */

const equatorialRadiusM = 6_378_137;
const flattening = 1 / 298.257223563;
const eccentricitySquared = flattening * (2 - flattening);
const radians = Math.PI / 180;

/** Metres per degree of latitude where it is least, at the equator. */
const leastLatitudeScale = radians * equatorialRadiusM * (1 - eccentricitySquared);

/** The radius of curvature at the poles, metres. */
const polarRadiusM = equatorialRadiusM / (1 - flattening);

/** Latitude, in degrees north or south, above which local scales give way to chords. */
export const polarLatitude = 79;

/** Metres per degree of latitude (from the meridional radius M). */
export function latitudeScale(latitude: number): number {
  const sine = Math.sin(latitude * radians);
  const w = 1 - eccentricitySquared * sine * sine;
  return leastLatitudeScale / (w * Math.sqrt(w));
}

/** Metres per degree of longitude (from the prime vertical radius N). */
export function longitudeScale(latitude: number): number {
  const sine = Math.sin(latitude * radians);
  return radians * equatorialRadiusM * Math.sqrt((1 - sine * sine) / (1 - eccentricitySquared * sine * sine));
}

/** Degrees of latitude that are as long as one of longitude. */
export function scaleRatio(latitude: number): number {
  const sine = Math.sin(latitude * radians);
  return (Math.sqrt(1 - sine * sine) * (1 - eccentricitySquared * sine * sine)) / (1 - eccentricitySquared);
}

/** A difference of longitudes, -540 to 540, by the shorter way round: -180 to 180. */
export function wrapDegrees(degrees: number): number {
  if (degrees > 180) return degrees - 360;
  if (degrees < -180) return degrees + 360;
  return degrees;
}

/** Metres between two points given in degrees, by the shorter way round. */
export function distance(longitude1: number, latitude1: number, longitude2: number, latitude2: number): number {
  return offsetDistance(latitude1, wrapDegrees(longitude2 - longitude1), latitude2 - latitude1);
}

/** Metres from a point at `latitude` to the point that lies (eastward, northward) degrees from it. */
export function offsetDistance(latitude: number, eastward: number, northward: number): number {
  const mean = latitude + northward / 2;
  if (mean > polarLatitude || mean < -polarLatitude) return polarDistance(latitude, eastward, northward);
  const sine = Math.sin(mean * radians);
  const sineSquared = sine * sine;
  const w = 1 - eccentricitySquared * sineSquared;
  const north = (leastLatitudeScale / w) * northward;
  const east = radians * equatorialRadiusM * eastward;
  return Math.sqrt((north * north + east * east * (1 - sineSquared)) / w);
}

function polarDistance(latitude: number, eastward: number, northward: number): number {
  const offset = project(latitude, eastward, northward);
  return Math.hypot(offset.x, offset.y);
}

/** Metres east and north in a plane about a point. */
export interface Offset {
  x: number;
  y: number;
}

/**
 * Projects the point that lies (eastward, northward) degrees from a point at `latitude` about that point: its direction
 * and its distance are kept (azimuthal equidistant). Made for the polar regions, where it is exact to a millimetre in
 * 10 km.
 */
export function project(latitude: number, eastward: number, northward: number): Offset {
  const sine = Math.sin(latitude * radians);
  const cosine = Math.cos(latitude * radians);
  const otherSine = Math.sin((latitude + northward) * radians);
  const otherCosine = Math.cos((latitude + northward) * radians);
  const normal = equatorialRadiusM / Math.sqrt(1 - eccentricitySquared * sine * sine);
  const otherNormal = equatorialRadiusM / Math.sqrt(1 - eccentricitySquared * otherSine * otherSine);
  const halfSine = Math.sin((eastward * radians) / 2);

  // Earth-centred differences: away from the axis at the point's meridian, east of that meridian, along the axis.
  const outward = otherNormal * otherCosine * (1 - 2 * halfSine * halfSine) - normal * cosine;
  const east = otherNormal * otherCosine * Math.sin(eastward * radians);
  const axial = (1 - eccentricitySquared) * (otherNormal * otherSine - normal * sine);
  const north = cosine * axial - sine * outward;

  const chord = Math.hypot(outward, east, axial);
  const arc = chord + chord ** 3 / (24 * polarRadiusM * polarRadiusM);
  const level = Math.hypot(east, north);
  // Straight up or down is nowhere in the plane: the point itself (arc 0), or its antipode in any direction.
  return level === 0 ? { x: arc, y: 0 } : { x: (arc / level) * east, y: (arc / level) * north };
}

/**
 * How many degrees of latitude from a point everything lies that is at most `reachM` metres away, conservative by half
 * a percent.
 * A query box about a point, widened so, meets the box of every fence with d >= -reachM.
 */
export function latitudeReach(reachM: number): number {
  return (1.005 / leastLatitudeScale) * reachM;
}

/**
 * The same for degrees of longitude: at most 180, which means all, when the pole (or the last 100 m before it) is in
 * reach.
 */
export function longitudeReach(latitude: number, reachM: number): number {
  const top = Math.abs(latitude) + latitudeReach(reachM);
  return top >= 89.999 ? 180 : Math.min(180, (1.005 * reachM) / longitudeScale(top));
}
