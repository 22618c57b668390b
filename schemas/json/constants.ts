/**
 * Names and limits that the JSON Schemas state, for threads that check no JSON: loading TypeBox takes 160 ms of
 * processor time.
 */

/** The days as operating hours name them, from Monday on. */
export const dayNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
/** A day as operating hours name it. */
export type DayName = (typeof dayNames)[number];

/** Fewest positions of a closed ring: those of a triangle and its first one again (RFC 7946). */
export const minRingPoints = 4;
/** Most positions of a ring. */
export const maxRingPoints = 2_000;

/** Events of one location in one request to a webhook. */
export const maxGroupedEvents = 5;

/** How people travel to the destination of an isochrone, or along a route. */
export const travelModes = ['car', 'truck', 'foot', 'bike', 'motorbike'] as const;
/** How somebody travels to the centre of an isochrone. */
export type TravelMode = (typeof travelModes)[number];
