/**
 * Names and limits that the JSON Schemas state, for threads that check no JSON: loading TypeBox takes 160 ms of
 * processor time.
 */

export const dayNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
export type DayName = (typeof dayNames)[number];

export const minRingPoints = 4;
export const maxRingPoints = 2_000;

/** Events of one location in one request to a webhook. */
export const maxGroupedEvents = 5;

/** How people travel to the destination of an isochrone, or along a route. */
export const travelModes = ['car', 'truck', 'foot', 'bike', 'motorbike'] as const;
export type TravelMode = (typeof travelModes)[number];
