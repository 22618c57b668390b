/**
 * One live stream: reads what its reader has missed, then listens to the tailer, with no gap and no repeat between the
 * two.
 *
 * Flows in: a position, filters, the log and the tailer. Flows out: `output`, the text of server-sent events. Memory is
 * bounded: reading waits for the reader; from the tailer, which waits for nobody, a reader that leaves too much unsent
 * is cut, and comes back with its last id.
 */
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Log, type LogRecord, topics } from '../../pipeline/ports.js';
import { decodeRecord } from '../../pipeline/records/decode.js';
import { codecs } from '../../schemas/codecs.js';
import type { Event } from '../../schemas/records.js';
import type { Serialize } from '../serialize.js';
import { eventMessage, gapMessage, heartbeatMessage, openingMessage } from './messages.js';
import type { Position } from './position.js';
import { scopeOfKey } from './scopes.js';
import { boundsOf, mostUnread, within } from './start.js';
import type { Listener, Tailer } from './tailer.js';

export interface StreamParts {
  readonly log: Log;
  readonly tailer: Tailer;
  /**
   * Shared by all streams of a node: one of them reads at a time, so that together they take no more of the thread than
   * one.
   */
  readonly serialize: Serialize;
  /** As `scopeName` of what the reader may see. */
  readonly scope: string;
  readonly matches: (event: Event) => boolean;
  /** Where the reader is; undefined: it wants what comes from now on. */
  readonly from: Position | undefined;
  readonly maxUnsentBytes: number;
}

/** About two milliseconds of work. */
const maxReadRecords = 200;
const bufferedBytes = 65_536;
/** A reader that is told of the end takes what is unsent within this time or loses it. */
const endWithinMs = 1_000;

export class EventStream implements Listener {
  readonly output: Readable;
  readonly scope: string;
  readonly matches: (event: Event) => boolean;
  readonly #parts: StreamParts;
  /** Up to here all was told. While it listens this is the tailer's own. */
  #position: Position;
  #isClosed = false;
  #onDemand: () => void = () => {};

  constructor(parts: StreamParts) {
    this.#parts = parts;
    this.scope = parts.scope;
    this.matches = parts.matches;
    this.#position = [...(parts.from ?? parts.tailer.position)];
    this.output = new Readable({ highWaterMark: bufferedBytes, read: () => this.#onDemand() });
    this.output.once('close', () => this.#close());
  }

  /** Reads up to the tailer and listens from there on. Resolves then, or when the stream is closed before. */
  async start(): Promise<void> {
    const { tailer, from } = this.#parts;
    this.output.push(openingMessage(this.#position));
    if (from !== undefined) await this.#tellGap();
    for (;;) {
      if (this.#isClosed) return;
      const partition = mostUnread(this.#position, tailer.position);
      if (partition !== undefined) await this.#read(partition);
      // Its reader has read elsewhere, and further than the tailer has come.
      else if (mostUnread(tailer.position, this.#position) !== undefined) await tailer.moved();
      else break;
    }
    this.#position = tailer.position;
    tailer.listen(this);
  }

  take(messages: Buffer): void {
    if (this.#isClosed) return;
    if (this.output.readableLength > this.#parts.maxUnsentBytes) this.output.destroy();
    else this.output.push(messages);
  }

  /** Tells the reader where it is, unless there is something unsent that does. */
  beat(): void {
    if (!this.#isClosed && this.output.readableLength === 0) this.output.push(heartbeatMessage(this.#position));
  }

  /** Ends the stream in order, and at once if the reader does not read. */
  end(): void {
    if (this.#isClosed) return;
    this.#close();
    this.output.push(null);
    setTimeout(() => this.output.destroy(), endWithinMs).unref();
  }

  #close(): void {
    this.#isClosed = true;
    this.#parts.tailer.forget(this);
    this.#onDemand();
  }

  /** Tells some of what the partition has, and waits until there is room for more. */
  async #read(partition: number): Promise<void> {
    await this.#parts.serialize('read', async () => {
      await this.#tell(partition);
      await nextTurn();
    });
    if (this.output.readableLength >= bufferedBytes) await this.#demand();
  }

  async #tell(partition: number): Promise<void> {
    const { log, tailer } = this.#parts;
    const offset = this.#position[partition]!;
    const count = Math.min(maxReadRecords, tailer.position[partition]! - offset);
    const records = await log.read(topics.events, partition, offset, count);
    if (this.#isClosed) return;
    if (records[0]?.offset !== offset) return this.#tellGap();
    const messages = records.map((record) => this.#messageOf(record)).join('');
    if (messages !== '') this.output.push(messages);
  }

  /** Moves past a record; answers what its reader is told. */
  #messageOf(record: LogRecord): string {
    this.#position = this.#position.with(record.partition, record.offset + 1);
    if (scopeOfKey(record.key) !== this.scope) return '';
    const event = decodeRecord(codecs.event, record);
    return 'reason' in event || !this.matches(event) ? '' : eventMessage(event, this.#position);
  }

  /** Goes on with the oldest where the position is older, and tells what is gone. */
  async #tellGap(): Promise<void> {
    const bounds = await boundsOf(this.#parts.log);
    if (this.#isClosed) return;
    const starts = bounds.map((held) => ({
      partition: held.partition,
      ...within(held, this.#position[held.partition]!),
    }));
    this.#position = starts.map(({ next }) => next);
    const gone = starts.filter(({ missing }) => missing > 0).map(({ partition, missing }) => ({ partition, missing }));
    if (gone.length > 0) this.output.push(gapMessage(gone, this.#position));
  }

  #demand(): Promise<void> {
    return new Promise((resolve) => {
      this.#onDemand = resolve;
      if (this.#isClosed) resolve();
    });
  }
}
