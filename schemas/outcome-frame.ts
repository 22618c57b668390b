/**
 * Reads encoded outcomes without decoding them: a row of a location takes most values as the bytes that they are. So no
 * text is made, and what a row doesn't need (details, profiles) is passed over. A test compares it with the codec.
 */
import { codecs, frameBytes } from './codecs.js';
import type { OutcomeResult } from './records.js';

/** In the order of the schema. */
const results: readonly OutcomeResult[] = ['applied', 'repeat', 'stale'];

const notWhole = (): Error => new Error('the body is not one whole record');

/** Moves over the values of an Avro record. Positions beyond its end show when the record is finished. */
class Cursor {
  bytes: Buffer = Buffer.alloc(0);
  at = 0;

  long(): number {
    const { bytes } = this;
    let byte = bytes[this.at++]!;
    let value = byte & 127;
    for (let factor = 128; byte > 127; factor *= 128) {
      byte = bytes[this.at++]!;
      value += (byte & 127) * factor;
    }
    // Zigzag: odd numbers are negative.
    const long = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    if (!Number.isSafeInteger(long)) throw notWhole();
    return long;
  }

  /** Returns the index of a branch or of a symbol, of which there are so many. */
  index(count: number): number {
    const index = this.long();
    if (index < 0 || index >= count) throw notWhole();
    return index;
  }

  /** Passes over text. Returns its length in bytes: it ends where the cursor is. */
  text(): number {
    const length = this.long();
    if (length < 0) throw notWhole();
    this.at += length;
    return length;
  }

  /** Does the same for text that may be null, whose length is 0. */
  optionalText(): number {
    return this.index(2) === 0 ? 0 : this.text();
  }

  /** Returns the position of a value of this size, and passes over it. */
  fixed(bytes: number): number {
    this.at += bytes;
    return this.at - bytes;
  }

  optionalDouble(): void {
    if (this.index(2) === 1) this.at += 8;
  }

  /** Calls `item` for each item of an array. Returns their number. */
  items(item: () => void): number {
    let items = 0;
    for (let count = this.long(); count !== 0; count = this.long()) {
      // A negative count is followed by the size of the items in bytes.
      if (count < 0) this.long();
      for (let left = Math.abs(count); left > 0; left--) {
        if (this.at >= this.bytes.length) throw notWhole();
        item();
        items += 1;
      }
    }
    return items;
  }
}

/** Where text is: from `start` to before `end`, in bytes. */
export interface Span {
  start: number;
  end: number;
}

const span = (): Span => ({ start: 0, end: 0 });

const textsOfDetails = 11;
const doublesOfDetails = 5;

/** The outcome that was read last. Of an optional text that is null the span is empty. */
export class OutcomeFrame {
  readonly #cursor = new Cursor();
  readonly id = span();
  readonly project = span();
  readonly deviceId = span();
  readonly userId = span();
  readonly ip = span();
  readonly source = span();
  /** `_id` of the user record. */
  readonly user = span();
  isLive = false;
  /** Positions of doubles. */
  latitude = 0;
  longitude = 0;
  accuracyM = 0;
  /** Epoch ms. */
  occurredAt = 0;
  receivedAt = 0;
  foreground = false;
  stopped = false;
  replayed = false;
  result: OutcomeResult = 'applied';
  /** Positions of the arrays of ids. */
  #geofences = 0;
  #events = 0;

  /** Returns the encoded outcome that fields are read from. */
  get bytes(): Buffer {
    return this.#cursor.bytes;
  }

  /** Reads a frame as the codec does. Throws if it has another schema id or its body is invalid. */
  read(frame: Buffer): this {
    const cursor = this.#cursor;
    if (frame.length < frameBytes || frame[0] !== 0) throw new Error('not in the Confluent wire format');
    const schemaId = frame.readUInt32BE(1);
    if (schemaId !== codecs.outcome.schemaId)
      throw new Error(`schema id ${schemaId} where ${codecs.outcome.schemaId} was expected`);
    cursor.bytes = frame;
    cursor.at = frameBytes;
    this.#readLocation();
    this.result = results[cursor.index(results.length)]!;
    this.#text(this.user);
    cursor.long();
    cursor.optionalText();
    this.#geofences = cursor.at;
    this.#passTexts();
    this.#passTexts();
    this.#events = cursor.at;
    this.#passTexts();
    if (cursor.at !== frame.length) throw notWhole();
    return this;
  }

  /** Returns a key of the user record: the same for the same `_id`. */
  get userKey(): string {
    return this.bytes.toString('latin1', this.user.start, this.user.end);
  }

  /** Calls `use` for each id of a geofence that the user is inside of, and returns their number. */
  eachGeofence(use: (start: number, end: number) => void): number {
    return this.#eachText(this.#geofences, use);
  }

  /** Does the same for the ids of the events. */
  eachEvent(use: (start: number, end: number) => void): number {
    return this.#eachText(this.#events, use);
  }

  #readLocation(): void {
    const cursor = this.#cursor;
    this.#text(this.id);
    this.#text(this.project);
    this.isLive = cursor.index(2) === 1;
    this.#text(this.deviceId);
    this.#optionalText(this.userId);
    this.latitude = cursor.fixed(8);
    this.longitude = cursor.fixed(8);
    this.accuracyM = cursor.fixed(8);
    this.occurredAt = cursor.long();
    this.receivedAt = cursor.long();
    cursor.fixed(1);
    this.foreground = this.#flag();
    this.stopped = this.#flag();
    this.replayed = this.#flag();
    if (cursor.index(2) === 1) cursor.items(this.#passBeacon);
    this.#optionalText(this.ip);
    this.#optionalText(this.source);
    cursor.optionalText();
    if (cursor.index(2) === 1) this.#passDetails();
  }

  readonly #passBeacon = (): void => {
    const cursor = this.#cursor;
    cursor.index(2);
    cursor.text();
    cursor.text();
    cursor.text();
    if (cursor.index(2) === 1) cursor.long();
  };

  #passDetails(): void {
    const cursor = this.#cursor;
    for (let text = 0; text < textsOfDetails; text++) cursor.optionalText();
    for (let double = 0; double < doublesOfDetails; double++) cursor.optionalDouble();
    cursor.fixed(1);
  }

  readonly #passText = (): void => void this.#cursor.text();

  #passTexts(): void {
    this.#cursor.items(this.#passText);
  }

  #eachText(position: number, use: (start: number, end: number) => void): number {
    const cursor = this.#cursor;
    cursor.at = position;
    return cursor.items(() => {
      const length = cursor.text();
      use(cursor.at - length, cursor.at);
    });
  }

  #text(found: Span): void {
    const length = this.#cursor.text();
    found.end = this.#cursor.at;
    found.start = found.end - length;
  }

  #optionalText(found: Span): void {
    const length = this.#cursor.optionalText();
    found.end = this.#cursor.at;
    found.start = found.end - length;
  }

  #flag(): boolean {
    return this.bytes[this.#cursor.fixed(1)] !== 0;
  }
}
