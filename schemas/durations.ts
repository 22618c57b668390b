/** Durations in milliseconds. A day has 24 hours here, whatever a time zone makes of it. */
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
