/** Blends colours of the palettes, which are all `#rrggbb`. Pure. */

/** Returns `color` drawn over `under` with this opacity, 0 to 1. The result is opaque, so that lines may overlap. */
export function blend(color: string, under: string, share: number): string {
  const mixed = channels(color).map((channel, i) => Math.round(channel * share + channels(under)[i]! * (1 - share)));
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

function channels(color: string): number[] {
  return [1, 3, 5].map((start) => Number.parseInt(color.slice(start, start + 2), 16));
}
