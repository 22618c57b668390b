/** Reads `limit` as SDKs write it. */
import type { FieldReader } from '../../http/fields/reader.js';

/** Returns null for a limit that is not given. The SDK for Android writes one that the app has not set as `null`. */
export const readLimit = (reader: FieldReader, maximum?: number): number | null =>
  reader.value('limit') === 'null'
    ? null
    : reader.integer('limit', { minimum: 1, ...(maximum !== undefined && { maximum }) });
