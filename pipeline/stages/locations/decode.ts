/** From records of topic `locations` to locations that can be evaluated, or the reason why not. */
import { type Codec, frameBytes } from '../../../schemas/codecs.js';
import type { Location } from '../../../schemas/records.js';
import type { LogRecord } from '../../ports.js';
import { type BadRecord, decodeRecord } from '../dead-letters.js';

/** A record that can be evaluated. */
export interface Received {
  readonly record: LogRecord;
  readonly location: Location;
}

/** A batch in offset order: what can be evaluated and what cannot. */
export interface DecodedBatch {
  readonly items: readonly (Received | BadRecord)[];
  /** The keys of the devices it is about, each once. */
  readonly deviceKeys: readonly string[];
}

export function decodeBatch(codec: Codec<Location>, records: readonly LogRecord[]): DecodedBatch {
  const deviceKeys = new Set<string>();
  const items = records.map((record): Received | BadRecord => {
    const item = decodeLocation(codec, record);
    if ('location' in item) deviceKeys.add(record.key);
    return item;
  });
  return { items, deviceKeys: [...deviceKeys] };
}

function decodeLocation(codec: Codec<Location>, record: LogRecord): Received | BadRecord {
  const decoded = decodeRecord(codec, record);
  if ('reason' in decoded) return decoded;
  const location = decoded.value;
  const message = problemOf(location);
  return message === undefined ? { record, location } : { record, reason: 'invalid_location', message };
}

/** Ingest checks more. This is what evaluation relies on, whoever wrote the record; NaN fails every comparison. */
function problemOf({ latitude, longitude, accuracy_m, details }: Location): string | undefined {
  if (!(Math.abs(latitude) <= 90)) return `latitude ${latitude}`;
  if (!(Math.abs(longitude) <= 180)) return `longitude ${longitude}`;
  if (!(accuracy_m >= 0 && accuracy_m < Number.POSITIVE_INFINITY)) return `accuracy_m ${accuracy_m}`;
  if (details?.metadata && !isJson(details.metadata)) return 'details.metadata is not JSON';
  return undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** True when the frame's body was written with the codec's own schema, so that its bytes may be copied as they are. */
export const hasSchemaOf = (codec: Codec<Location>, frame: Buffer): boolean =>
  frame.length >= frameBytes && frame.readUInt32BE(1) === codec.schemaId;
