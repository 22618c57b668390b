/**
 * Avro codecs of everything that is written to a topic or a state store.
 *
 * Flows in: the `*.avsc` files beside this one. Flows out: typed encoders and decoders. On topics a value is framed in
 * the Confluent wire format (a zero byte, four bytes of schema id big-endian, the Avro body), so that any Kafka client
 * can read it.
 * Embedded, schema ids are the fixed ones below; in a cluster the registry assigns them.
 */
import { readFileSync } from 'node:fs';
import avro from 'avsc';
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
  return avro.Type.forSchema(schema, { registry: names, wrapUnions: false });
}

// Order matters: an outcome refers to Location, an event to Environment and BeaconType, an attempt to Delivery.
export const locationType = load<Location>('location');
export const outcomeType = load<Outcome>('outcome');
export const eventType = load<Event>('event');
export const changeType = load<Change>('change');
export const deadLetterType = load<DeadLetter>('dead-letter');
export const deviceStateType = load<DeviceState>('device-state');
/** What releases without generations wrote: states have no schema id, so their reader must know it. */
export const firstDeviceStateType = load<DeviceState>('versions/device-state.v1', {});
export const deliveryType = load<Delivery>('delivery');
export const attemptType = load<Attempt>('attempt');
export const rejectionType = load<Rejection>('rejection');

/** Bytes before the Avro body in the Confluent wire format. */
export const frameBytes = 5;

/** Encodes and decodes one record type in the Confluent wire format. */
export interface Codec<T> {
  readonly schemaId: number;
  /** The Avro type, for readers that must resolve older schemas. */
  readonly type: avro.Type;
  encode(value: T): Buffer;
  /** Writes the frame into `target` at `position`; returns the position after it, or -1 when there was no room. */
  encodeInto(value: T, target: Buffer, position: number): number;
  /** Throws when the frame is not of this codec's schema or the body is broken. */
  decode(frame: Buffer): T;
}

/** A codec under a schema id: the fixed one when embedded, the registry's in a cluster. */
export function createCodec<T>(type: avro.Type, schemaId: number): Codec<T> {
  function encodeInto(value: T, target: Buffer, position: number): number {
    if (position + frameBytes > target.length) return -1;
    target[position] = 0;
    target.writeUInt32BE(schemaId, position + 1);
    const end = type.encode(value, target, position + frameBytes) as unknown as number;
    return end < 0 ? -1 : end;
  }
  return {
    schemaId,
    type,
    encodeInto,
    encode(value) {
      const body = type.toBuffer(value);
      const frame = Buffer.allocUnsafe(frameBytes + body.length);
      frame[0] = 0;
      frame.writeUInt32BE(schemaId, 1);
      body.copy(frame, frameBytes);
      return frame;
    },
    decode(frame) {
      if (frame.length < frameBytes || frame[0] !== 0) throw new Error('not in the Confluent wire format');
      const id = frame.readUInt32BE(1);
      if (id !== schemaId) throw new Error(`schema id ${id} where ${schemaId} was expected`);
      const { value, offset } = type.decode(frame, frameBytes) as unknown as { value: T; offset: number };
      if (offset !== frame.length) throw new Error('the body is not one whole record');
      return value;
    },
  };
}

export const codecs = {
  location: createCodec<Location>(locationType, 1),
  outcome: createCodec<Outcome>(outcomeType, 2),
  event: createCodec<Event>(eventType, 3),
  change: createCodec<Change>(changeType, 4),
  deadLetter: createCodec<DeadLetter>(deadLetterType, 5),
  delivery: createCodec<Delivery>(deliveryType, 6),
  attempt: createCodec<Attempt>(attemptType, 7),
  rejection: createCodec<Rejection>(rejectionType, 8),
};
export type Codecs = typeof codecs;
