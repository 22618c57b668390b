/** Helpers of the wire forms: times as SDKs insist on them, and objects without their unset fields. */

const dayMs = 24 * 60 * 60 * 1000;
const twoDigits = Array.from({ length: 60 }, (_, number) => `${number}`.padStart(2, '0')) as [string];
const threeDigits = Array.from({ length: 1000 }, (_, number) => `${number}`.padStart(3, '0')) as [string];
let dayOfPart = Number.NaN;
let dayPart = '';

/**
 * Epoch milliseconds, whole or rounded down, to 2018-06-12T13:44:10.535. Times are mostly of one day, so the day is
 * kept: a fifth of a Date's work.
 */
export function utcTime(epochMs: number): string {
  const day = Math.floor(epochMs / dayMs);
  if (day !== dayOfPart) {
    dayPart = new Date(day * dayMs).toISOString().slice(0, -'13:44:10.535Z'.length);
    dayOfPart = day;
  }
  const ms = Math.floor(epochMs - day * dayMs);
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  return `${dayPart}${twoDigits[hours]}:${twoDigits[minutes % 60]}:${twoDigits[seconds % 60]}.${threeDigits[ms % 1000]}`;
}

/** Epoch milliseconds, whole or rounded down, to 2018-06-12T13:44:10.535Z. */
export const isoTime = (epochMs: number): string => `${utcTime(epochMs)}Z`;

/** An object without the fields that are null or undefined: on the wire, unset means absent. */
export function withoutUnset<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== null && value !== undefined) result[name] = value;
  }
  return result as { [K in keyof T]?: NonNullable<T[K]> };
}

export const point = (longitude: number, latitude: number) => ({
  type: 'Point' as const,
  coordinates: [longitude, latitude] as [number, number],
});
