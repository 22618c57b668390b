/** Helpers of the wire forms: times as SDKs insist on them, and objects without their unset fields. */

/** Epoch milliseconds to 2018-06-12T13:44:10.535Z. */
export const isoTime = (epochMs: number): string => new Date(epochMs).toISOString();

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
