/** The length of the straight way between two places on WGS84, at any distance. Pure. */
import type { Position } from '../../schemas/json/common.js';

const equatorialRadiusM = 6_378_137;
const flattening = 1 / 298.257223563;
const radians = Math.PI / 180;

/** Returns metres, by Lambert's formula for long lines. The error is below 0.01 %, except near the antipode. */
export function geodesicDistance([x1, y1]: Position, [x2, y2]: Position): number {
  const reduced = (latitude: number): number => Math.atan((1 - flattening) * Math.tan(latitude * radians));
  const [a, b] = [reduced(y1), reduced(y2)];
  const half = Math.sin((b - a) / 2) ** 2 + Math.cos(a) * Math.cos(b) * Math.sin(((x2 - x1) * radians) / 2) ** 2;
  const angle = 2 * Math.asin(Math.min(1, Math.sqrt(half)));
  if (angle === 0) return 0;
  const [middle, apart] = [(a + b) / 2, (b - a) / 2];
  const cosine = Math.max(Math.cos(angle / 2), 1e-6);
  const x = ((angle - Math.sin(angle)) * Math.sin(middle) ** 2 * Math.cos(apart) ** 2) / cosine ** 2;
  const y = ((angle + Math.sin(angle)) * Math.cos(middle) ** 2 * Math.sin(apart) ** 2) / Math.sin(angle / 2) ** 2;
  return equatorialRadiusM * (angle - (flattening / 2) * (x + y));
}
