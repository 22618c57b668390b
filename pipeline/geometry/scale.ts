/**
 * Computes distances on the WGS84 ellipsoid, cheaply enough for every location.
 *
 * Up to latitude 79 it uses metres per degree at the mean latitude of the two points. Within 10 km the result differs
 * from the geodesic by less than 0.1 m. Above latitude 79, where meridians converge, it uses the arc over the chord
 * between the points in space: exact to a millimetre, also across the pole.
 */

const equatorialRadiusM = 6_378_137;
const flattening = 1 / 298.257223563;
const eccentricitySquared = flattening * (2 - flattening);
const radians = Math.PI / 180;

/** Minimum of metres per degree of latitude, at the equator. */
const leastLatitudeScale = radians * equatorialRadiusM * (1 - eccentricitySquared);

/** Radius of curvature at the poles, metres. */
const polarRadiusM = equatorialRadiusM / (1 - flattening);

/** Latitude in degrees, north or south, above which distances use chords instead of local scales. */
export const polarLatitude = 79;

/** Returns metres per degree of latitude (from the meridional radius M). */
export function latitudeScale(latitude: number): number {
  const sine = Math.sin(latitude * radians);
  const w = 1 - eccentricitySquared * sine * sine;
  return leastLatitudeScale / (w * Math.sqrt(w));
}

/** Returns metres per degree of longitude (from the prime vertical radius N). */
export function longitudeScale(latitude: number): number {
  const sine = Math.sin(latitude * radians);
  return radians * equatorialRadiusM * Math.sqrt((1 - sine * sine) / (1 - eccentricitySquared * sine * sine));
}

/** Returns the degrees of latitude that are as long as one degree of longitude. */
export function scaleRatio(latitude: number): number {
  const sine = Math.sin(latitude * radians);
  return (Math.sqrt(1 - sine * sine) * (1 - eccentricitySquared * sine * sine)) / (1 - eccentricitySquared);
}

/** Wraps a difference of longitudes, -540 to 540, to -180 to 180. */
export function wrapDegrees(degrees: number): number {
  if (degrees > 180) return degrees - 360;
  if (degrees < -180) return degrees + 360;
  return degrees;
}

/** Returns the distance of two points in metres. Coordinates are in degrees. */
export function distance(longitude1: number, latitude1: number, longitude2: number, latitude2: number): number {
  return offsetDistance(latitude1, wrapDegrees(longitude2 - longitude1), latitude2 - latitude1);
}

/** Returns the distance in metres from a point at `latitude` to the point (eastward, northward) degrees away. */
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

/** Metres east and north of a point, in a plane. */
export interface Offset {
  x: number;
  y: number;
}

/**
 * Projects the point (eastward, northward) degrees away from a point at `latitude`. The projection keeps direction and
 * distance (azimuthal equidistant). For polar regions, where it is exact to a millimetre in 10 km.
 */
export function project(latitude: number, eastward: number, northward: number): Offset {
  const sine = Math.sin(latitude * radians);
  const cosine = Math.cos(latitude * radians);
  const otherSine = Math.sin((latitude + northward) * radians);
  const otherCosine = Math.cos((latitude + northward) * radians);
  const normal = equatorialRadiusM / Math.sqrt(1 - eccentricitySquared * sine * sine);
  const otherNormal = equatorialRadiusM / Math.sqrt(1 - eccentricitySquared * otherSine * otherSine);
  const halfSine = Math.sin((eastward * radians) / 2);

  // Differences in an earth-centred frame: outward at the point's meridian, east of that meridian, along the axis.
  const outward = otherNormal * otherCosine * (1 - 2 * halfSine * halfSine) - normal * cosine;
  const east = otherNormal * otherCosine * Math.sin(eastward * radians);
  const axial = (1 - eccentricitySquared) * (otherNormal * otherSine - normal * sine);
  const north = cosine * axial - sine * outward;

  const chord = Math.hypot(outward, east, axial);
  const arc = chord + chord ** 3 / (24 * polarRadiusM * polarRadiusM);
  const level = Math.hypot(east, north);
  // Straight up or down has no direction in the plane: it is the point itself (arc 0) or its antipode.
  return level === 0 ? { x: arc, y: 0 } : { x: (arc / level) * east, y: (arc / level) * north };
}

/**
 * Returns an upper bound, by half a percent, of the degrees of latitude to all points within `reachM` metres. A query
 * box extended by it meets the box of every fence with d >= -reachM.
 */
export function latitudeReach(reachM: number): number {
  return (1.005 / leastLatitudeScale) * reachM;
}

/**
 * Returns the same bound for degrees of longitude. It is 180, which means all, if the pole, or a point within 100 m of
 * it, is in reach.
 */
export function longitudeReach(latitude: number, reachM: number): number {
  const top = Math.abs(latitude) + latitudeReach(reachM);
  return top >= 89.999 ? 180 : Math.min(180, (1.005 * reachM) / longitudeScale(top));
}
