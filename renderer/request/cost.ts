/**
 * Estimates the processor time of a map. Keys are limited by it, and projects share the processes by it. docs/maps.md
 * has the formula.
 *
 * The estimates are based on street maps on the machine of docs/measurements.md. The measured time is charged
 * afterwards. Pure.
 */
import type { MapRequest } from '../types.js';

/** The estimates of an interactive map's style and files. */
export const webStyleCostMs = 20;
/** The estimate for each kind of file. */
export const webFileCostMs = { tile: 5, glyphs: 60, sprite: 5 } as const;

const base = 20;
const perMegapixel = 60;
const perMarker = 0.1;
const perLocationOfPath = 0.1;
const perFence = 0.2;
const perPointOfFence = 0.01;
/** An uploaded style may have any number of layers and expressions. */
const shareOfUploadedStyle = 2;

/** Returns the estimate in milliseconds. */
export function mapCostMs(
  { width, height, scale, markers, paths, fences }: MapRequest,
  hasUploadedStyle: boolean,
): number {
  const megapixels = (width * height * scale * scale) / 1_000_000;
  const ground = (base + perMegapixel * megapixels) * (hasUploadedStyle ? shareOfUploadedStyle : 1);
  const locations = (groups: readonly { readonly locations: readonly unknown[] }[]) =>
    groups.reduce((sum, group) => sum + group.locations.length, 0);
  const fencePoints = fences.reduce((sum, fence) => sum + (fence.type === 'polygon' ? fence.ring.length : 0), 0);
  return (
    ground +
    perMarker * locations(markers) +
    perLocationOfPath * locations(paths) +
    perFence * fences.length +
    perPointOfFence * fencePoints
  );
}
