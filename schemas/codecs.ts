/**
 * Avro codecs of all records on topics and in state stores, made from the `*.avsc` files in `avro/`.
 *
 * On topics a value has the Confluent wire format, which any Kafka client can read: a zero byte, four bytes of schema
 * id (big-endian), the Avro body. Embedded nodes use the fixed schema ids below; in a cluster the registry assigns
 * them. A new version of a schema gets a new id, because logs of embedded nodes keep frames of the older ones.
 */
import { readFileSync } from 'node:fs';
import type avro from 'avsc';
import { Type } from './avro-type.js';
import { encodeWith } from './avro-writer.js';
import { writeEvent, writeLocation } from './record-writers.js';
import type {
  Attempt,
  Change,
  DeadLetter,
  Delivery,
  DeviceState,
  Event,
  Location,
  Outcome,
  Rejection,
} from './records.js';

const registry: { [name: string]: avro.Type } = {};

function load<T>(name: string, names = registry): avro.Type & { __value?: T } {
  const schema = JSON.parse(readFileSync(new URL(`./avro/${name}.avsc`, import.meta.url), 'utf8'));
  return Type.forSchema(schema, { registry: names, wrapUnions: false });
}

// The order matters: an outcome refers to Location, an event to Environment and BeaconType, an attempt to Delivery.
/** An accepted location, on topic `locations`. */
export const locationType = load<Location>('location');
/** What became of a location, on topic `outcomes`. */
export const outcomeType = load<Outcome>('outcome');
/** An event, on topic `events`. */
export const eventType = load<Event>('event');
/** The schema of releases without positions of beacons and without `metadataOmitted`. */
export const firstEventType = load<Event>('versions/event.v1', {});
/** An edit of configuration, on topic `changes`. */
export const changeType = load<Change>('change');
/** A record that could not be processed, on topic `dead-letters`. */
export const deadLetterType = load<DeadLetter>('dead-letter');
/** The state of a device in the state store. */
export const deviceStateType = load<DeviceState>('device-state');
/** The schema of releases without generations. States carry no schema id, so the reader must know it. */
export const firstDeviceStateType = load<DeviceState>('versions/device-state.v1', {});
/** The schema of states that end with their users. */
export const thirdDeviceStateType = load<DeviceState>('versions/device-state.v3', {});
/** A payload for one webhook, in its queue. */
export const deliveryType = load<Delivery>('delivery');
/** An attempt of a delivery, on topic `attempts`. */
export const attemptType = load<Attempt>('attempt');
/** Counts of refused locations, on topic `rejections`. */
export const rejectionType = load<Rejection>('rejection');

/** Bytes before the Avro body in the Confluent wire format. */
export const frameBytes = 5;

/** Encodes and decodes one record type in the Confluent wire format. */
export interface Codec<T> {
  readonly schemaId: number;
  /** The ids of the frames that `decode` reads: `schemaId`, and those of older versions. */
  readonly readableIds: ReadonlySet<number>;
  /** The Avro type, for readers that resolve older schemas. */
  readonly type: avro.Type;
  encode(value: T): Buffer;
  /** Writes the frame into `target` at `position`. Returns the position after it, or -1 if it does not fit. */
  encodeInto(value: T, target: Buffer, position: number): number;
  /** Decodes a frame of this or an older version. Throws if it has another schema id or its body is invalid. */
  decode(frame: Buffer): T;
}

/** A version of a schema that earlier releases wrote. */
interface OlderVersion {
  readonly schemaId: number;
  readonly type: avro.Type;
}

/** Where values are encoded before they are copied. It grows to the size of the largest. */
let scratch = Buffer.allocUnsafeSlow(16 * 1_024);

/** Writes the body as the type does. Returns the position after it, or a negative number if it does not fit. */
type EncodeBody<T> = (value: T, target: Buffer, position: number) => number;

/**
 * Creates a codec for a schema id. `encodeBody` writes the same bytes as the type, in less time. Fields that an older
 * version lacks get their defaults.
 */
export function createCodec<T>(
  type: avro.Type,
  schemaId: number,
  encodeBody: EncodeBody<T> = type.encode.bind(type) as unknown as EncodeBody<T>,
  olderVersions: readonly OlderVersion[] = [],
): Codec<T> {
  const resolvers = new Map(olderVersions.map((older) => [older.schemaId, type.createResolver(older.type)]));
  function encodeInto(value: T, target: Buffer, position: number): number {
    if (position + frameBytes > target.length) return -1;
    target[position] = 0;
    target.writeUInt32BE(schemaId, position + 1);
    const end = encodeBody(value, target, position + frameBytes);
    return end < 0 ? -1 : end;
  }
  return {
    schemaId,
    readableIds: new Set([schemaId, ...resolvers.keys()]),
    type,
    encodeInto,
    encode(value) {
      for (;;) {
        const end = encodeInto(value, scratch, 0);
        if (end >= 0) return Buffer.from(scratch.subarray(0, end));
        scratch = Buffer.allocUnsafeSlow(2 * scratch.length);
      }
    },
    decode(frame) {
      if (frame.length < frameBytes || frame[0] !== 0) throw new Error('not in the Confluent wire format');
      const id = frame.readUInt32BE(1);
      const resolver = id === schemaId ? undefined : resolvers.get(id);
      if (id !== schemaId && !resolver) throw new Error(`schema id ${id} where ${schemaId} was expected`);
      const { value, offset } = type.decode(frame, frameBytes, resolver) as unknown as { value: T; offset: number };
      if (offset !== frame.length) throw new Error('the body is not one whole record');
      return value;
    },
  };
}

/**
 * The codec of each record on a topic. The number is the schema id of embedded nodes; ids of old versions stay in use.
 */
export const codecs = {
  location: createCodec<Location>(locationType, 1, encodeWith(writeLocation)),
  outcome: createCodec<Outcome>(outcomeType, 2),
  event: createCodec<Event>(eventType, 9, encodeWith(writeEvent), [{ schemaId: 3, type: firstEventType }]),
  change: createCodec<Change>(changeType, 4),
  deadLetter: createCodec<DeadLetter>(deadLetterType, 5),
  delivery: createCodec<Delivery>(deliveryType, 6),
  attempt: createCodec<Attempt>(attemptType, 7),
  rejection: createCodec<Rejection>(rejectionType, 8),
};
/** The codecs of all topics. Stages take them as a part, so that tests can replace one. */
export type Codecs = typeof codecs;

/**
 * Returns what marks of positions hash of a value: the body of a frame, of an event in its first version. Releases that
 * know other versions have to agree on it, and a node of a cluster encodes records of other versions as its own.
 */
export function bodyForMark(value: Buffer): Buffer {
  if (value.length <= frameBytes) return value;
  if (value[0] === 0 && value.readUInt32BE(1) === codecs.event.schemaId) {
    try {
      return firstEventType.toBuffer(codecs.event.decode(value));
    } catch {
      // It is no event, and every release hashes its bytes.
    }
  }
  return value.subarray(frameBytes);
}
