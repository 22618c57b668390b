/**
 * Encodes the outbox of a partition: the records that its last commit publishes, in wire form, until Kafka has them.
 *
 * `[format u8]`, then per topic `[name bytes u32][name][records u32]` and per record `[key bytes u32][key][value bytes
 * + 1 u32, 0: null][value]`. In format 2 each record ends with `[headers bytes u32, 0: none][headers as JSON]`.
 * Big-endian, texts in UTF-8. The next owner of the partition reads it, which may be another version of Fenceline: a
 * changed layout needs a new format number.
 */
import type { Commit, NewRecord, RecordHeaders, Topic } from '../../../pipeline/ports.js';

const formats = { withoutHeaders: 1, withHeaders: 2 };
const numberBytes = 4;
const maxUtf8BytesPerUnit = 3;

/** Returns an empty buffer when there is nothing to publish. */
export function encodeOutbox(publish: Commit['publish']): Buffer {
  const groups = publish.filter(({ records }) => records.length > 0);
  if (groups.length === 0) return Buffer.alloc(0);
  // Earlier releases read only the format without headers. Records have headers only where requests are traced.
  const hasHeaders = groups.some(({ records }) => records.some(({ headers }) => headers !== undefined));
  const writer = new Writer(capacityFor(groups), hasHeaders ? formats.withHeaders : formats.withoutHeaders);
  for (const { topic, records } of groups) {
    writer.text(topic);
    writer.number(records.length);
    for (const { key, value, headers } of records) {
      writer.text(key);
      writer.value(value);
      if (hasHeaders) writer.text(textOf(headers));
    }
  }
  return writer.written();
}

/** Throws on anything that {@link encodeOutbox} did not write. Values are views into `outbox`. */
export function decodeOutbox(outbox: Buffer): Commit['publish'] {
  if (outbox.length === 0) return [];
  const format = outbox[0]!;
  if (!Object.values(formats).includes(format))
    throw new Error(`the outbox has format ${format}: this version reads ${Object.values(formats).join(' and ')}`);
  const hasHeaders = format === formats.withHeaders;
  const groups: { topic: Topic; records: NewRecord[] }[] = [];
  const reader = new Reader(outbox);
  while (!reader.isAtEnd) {
    const topic = reader.text() as Topic;
    const records = Array.from({ length: reader.number() }, () => reader.record(hasHeaders));
    groups.push({ topic, records });
  }
  return groups;
}

const textOf = (headers: RecordHeaders | undefined): string => (headers === undefined ? '' : JSON.stringify(headers));

/** Returns an upper bound of the size. Unused pages of the buffer take no memory. */
function capacityFor(groups: Commit['publish']): number {
  const text = (length: number): number => numberBytes + length * maxUtf8BytesPerUnit;
  let bytes = 1;
  for (const { topic, records } of groups) {
    bytes += text(topic.length) + numberBytes;
    for (const { key, value, headers } of records)
      bytes += text(key.length) + numberBytes + (value?.length ?? 0) + text(textOf(headers).length);
  }
  return bytes;
}

class Writer {
  readonly #target: Buffer;
  #position = 1;

  constructor(capacity: number, format: number) {
    this.#target = Buffer.allocUnsafeSlow(capacity);
    this.#target[0] = format;
  }

  number(value: number): void {
    this.#position = this.#target.writeUInt32BE(value, this.#position);
  }

  text(text: string): void {
    const start = this.#position;
    this.#position = start + numberBytes + this.#target.write(text, start + numberBytes);
    this.#target.writeUInt32BE(this.#position - start - numberBytes, start);
  }

  value(value: Buffer | null): void {
    this.number(value === null ? 0 : value.length + 1);
    if (value === null) return;
    this.#target.set(value, this.#position);
    this.#position += value.length;
  }

  written(): Buffer {
    return this.#target.subarray(0, this.#position);
  }
}

class Reader {
  readonly #source: Buffer;
  #position = 1;

  constructor(source: Buffer) {
    this.#source = source;
  }

  get isAtEnd(): boolean {
    return this.#position === this.#source.length;
  }

  number(): number {
    const value = this.#source.readUInt32BE(this.#position);
    this.#position += numberBytes;
    return value;
  }

  text(): string {
    return this.#take(this.number()).toString();
  }

  record(hasHeaders: boolean): NewRecord {
    const record = { key: this.text(), value: this.value() };
    const headers = hasHeaders ? this.text() : '';
    return headers === '' ? record : { ...record, headers: JSON.parse(headers) };
  }

  value(): Buffer | null {
    const bytes = this.number();
    return bytes === 0 ? null : this.#take(bytes - 1);
  }

  #take(bytes: number): Buffer {
    const end = this.#position + bytes;
    if (end > this.#source.length) throw new Error('the outbox is truncated');
    const taken = this.#source.subarray(this.#position, end);
    this.#position = end;
    return taken;
  }
}
