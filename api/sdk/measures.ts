/** Distances and durations as SDKs show them: a number and a text. Pure. */

/** Systems of units. SDKs ask for one by name. */
export const units = ['metric', 'imperial'] as const;
/** Units of the texts of distances. */
export type Units = (typeof units)[number];

interface Measure {
  readonly value: number;
  readonly text: string;
}

const metresPerFoot = 0.3048;
const feetPerMile = 5_280;
/** Below this the text is in feet. */
const maxShownFeet = 1_000;

/** Returns a distance and its text. The value is in metres, or in feet. */
export function shownDistance(distanceM: number, shown: Units): Measure {
  if (shown === 'metric') {
    const text = distanceM < 999.5 ? `${Math.round(distanceM)} m` : `${(distanceM / 1_000).toFixed(1)} km`;
    return { value: distanceM, text };
  }
  const feet = distanceM / metresPerFoot;
  const text = feet < maxShownFeet - 0.5 ? `${Math.round(feet)} ft` : `${(feet / feetPerMile).toFixed(1)} mi`;
  return { value: feet, text };
}

/** Returns a duration and its text. The value is in minutes. */
export function shownDuration(durationS: number): Measure {
  const rounded = Math.round(durationS / 60);
  const [hours, minutes] = [Math.floor(rounded / 60), rounded % 60];
  const parts = [
    ...(hours > 0 ? [`${hours} ${hours === 1 ? 'hr' : 'hrs'}`] : []),
    ...(minutes > 0 || hours === 0 ? [`${minutes} ${minutes === 1 ? 'min' : 'mins'}`] : []),
  ];
  return { value: durationS / 60, text: parts.join(' ') };
}
