/** Time zones of the IANA database, as far as this version of Node knows them. */

/** Returns the canonical name of a time zone, such as `Europe/Rome`; undefined if the text names none. */
export function timeZoneNamed(text: string): string | undefined {
  // Some versions of Intl accept offsets, which are not time zones.
  if (!/^[a-z]/i.test(text)) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
