/** Decodes records of topic `locations`. A record that cannot be evaluated is a value with a reason. */
import { type Codec, frameBytes } from '../../../schemas/codecs.js';
import { dayMs } from '../../../schemas/durations.js';
import { parsedJson } from '../../../schemas/parsed-json.js';
import type { Location } from '../../../schemas/records.js';
import type { LogRecord } from '../../ports.js';
import { type BadRecord, decodeRecord, isBadRecord } from '../../records/decode.js';
import { isErasureCommand } from '../../records/erasure-command.js';

/** Records in offset order, and their decoded locations. */
export interface DecodedBatch {
  readonly records: readonly LogRecord[];
  /** The location or command of each record, or why there is none. */
  readonly items: readonly (Location | BadRecord)[];
  /** Keys of the batch's devices. */
  readonly deviceKeys: ReadonlySet<string>;
}

/** Decodes records of one partition, in their order. Never throws: a bad record becomes an item with its reason. */
export function decodeBatch(codec: Codec<Location>, records: readonly LogRecord[]): DecodedBatch {
  const deviceKeys = new Set<string>();
  const items = records.map((record) => {
    const item = decodeLocation(codec, record);
    if (!isBadRecord(item)) deviceKeys.add(record.key);
    return item;
  });
  return { records, items, deviceKeys };
}

function decodeLocation(codec: Codec<Location>, record: LogRecord): Location | BadRecord {
  const location = decodeRecord(codec, record);
  if (isBadRecord(location) || isErasureCommand(location)) return location;
  const message = problemOf(location);
  return message === undefined ? location : { record, reason: 'invalid_location', message };
}

/** Epoch ms of the last date that JavaScript has, less a day: local times are up to 14 hours later or earlier. */
const maxEpochMs = 8.64e15 - dayMs;

const isDate = (epochMs: number): boolean => Math.abs(epochMs) <= maxEpochMs;

/** Checks what evaluation relies on, whoever wrote the record. Ingest checks more. NaN fails every comparison. */
function problemOf({ latitude, longitude, accuracy_m, occurredAt, receivedAt, details }: Location): string | undefined {
  if (!(Math.abs(latitude) <= 90)) return `latitude ${latitude}`;
  if (!(Math.abs(longitude) <= 180)) return `longitude ${longitude}`;
  if (!(accuracy_m >= 0 && accuracy_m < Number.POSITIVE_INFINITY)) return `accuracy_m ${accuracy_m}`;
  if (!isDate(occurredAt)) return `occurredAt ${occurredAt}`;
  if (!isDate(receivedAt)) return `receivedAt ${receivedAt}`;
  if (details?.metadata && parsedJson(details.metadata) === undefined) return 'details.metadata is not JSON';
  return undefined;
}

/** Returns whether the frame was written with the codec's own schema, so that its bytes may be copied. */
export const hasSchemaOf = (codec: Codec<Location>, frame: Buffer): boolean =>
  frame.length >= frameBytes && frame.readUInt32BE(1) === codec.schemaId;
