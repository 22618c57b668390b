/**
 * Offsets of time zones from UTC, remembered: asking Intl takes about a microsecond, asking again a few nanoseconds.
 */

/** Instant (epoch ms) -> local time minus UTC, in milliseconds. */
export type ZoneOffset = (instantMs: number) => number;

const bucketMs = 15 * 60_000;
/** Per zone: 42 days of buckets, then the memory starts afresh. */
const maxBucketsPerZone = 4_096;

/** Bounded by the number of zones that Intl knows: unknown ones throw. */
const offsets = new Map<string, ZoneOffset>();

/** The offset of an IANA time zone. Throws RangeError for an unknown one. */
export function zoneOffset(timeZone: string): ZoneOffset {
  const known = offsets.get(timeZone);
  if (known !== undefined) return known;
  const offset = rememberOffsets(askIntl(timeZone));
  offsets.set(timeZone, offset);
  return offset;
}

/** Remembers a bucket when its ends agree; within one that holds a change, every instant is asked for. */
function rememberOffsets(ask: ZoneOffset): ZoneOffset {
  const buckets = new Map<number, number>();
  return (instantMs) => {
    const bucket = Math.floor(instantMs / bucketMs);
    const known = buckets.get(bucket);
    if (known !== undefined) return known;
    const offset = ask(bucket * bucketMs);
    if (ask((bucket + 1) * bucketMs - 1) !== offset) return ask(instantMs);
    if (buckets.size >= maxBucketsPerZone) buckets.clear();
    buckets.set(bucket, offset);
    return offset;
  };
}

/** Reads the offset from the text "11/21/2025, GMT-03:30"; UTC itself is plain "GMT". */
function askIntl(timeZone: string): ZoneOffset {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  return (instantMs) => {
    const match = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(format.format(instantMs));
    if (match === null) return 0;
    const seconds = Number(match[2]) * 3_600 + Number(match[3]) * 60 + Number(match[4] ?? 0);
    return (match[1] === '-' ? -seconds : seconds) * 1_000;
  };
}
