/**
 * The relation of the accuracy disc (centre p, radius a in metres) to a fence with signed distance d (metres, positive
 * inside). For a = 0 only `apart` and `within` occur. The numbers increase with d.
 */
export const Zone = {
  /** d < -a: p is outside by more than its accuracy. */
  apart: 0,
  /** -a <= d < 0: p is outside, and the disc reaches the fence. */
  near: 1,
  /** 0 <= d < a: p is inside or on the boundary, and the disc reaches outside. */
  partly: 2,
  /** d >= a: the disc is wholly inside. */
  within: 3,
} as const;
/** A relation of the disc to the fence: one of the numbers of {@link Zone}. */
export type Zone = (typeof Zone)[keyof typeof Zone];

/** Returns the zone of a signed distance and an accuracy in metres. */
export function zoneOf(signedDistanceM: number, accuracyM: number): Zone {
  if (signedDistanceM >= 0) return signedDistanceM >= accuracyM ? Zone.within : Zone.partly;
  return signedDistanceM >= -accuracyM ? Zone.near : Zone.apart;
}
