/**
 * One live stream: reads the events that the client has missed from the log, then listens to the tailer, without a gap
 * or a duplicate in between.
 *
 * Input: a position, filters, the log and the tailer. Output: `output`, the text of server-sent events. Memory is
 * bounded: reading from the log waits for the client. The tailer waits for nobody, so a slow client with too much
 * unsent data is disconnected, and reconnects with its last id.
 */
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Log, type LogRecord, topics } from '../../pipeline/ports.js';
import { decodeRecord, isBadRecord } from '../../pipeline/records/decode.js';
import { scopeOfKey } from '../../pipeline/records/device-key.js';
import { codecs } from '../../schemas/codecs.js';
import { Condition } from '../../schemas/condition.js';
import type { Event } from '../../schemas/records.js';
import type { Serialize } from '../serialize.js';
import { eventMessage, gapMessage, heartbeatMessage, openingMessage } from './messages.js';
import type { Position } from './position.js';
import { boundsOf, mostUnread, within } from './start.js';
import type { Listener, Tailer } from './tailer.js';

/** What one client's stream works with. */
export interface StreamParts {
  readonly log: Log;
  readonly tailer: Tailer;
  /**
   * Shared by all streams of a node: one of them reads at a time, so that together they use no more of the thread than
   * one stream.
   */
  readonly serialize: Serialize;
  /** `scopeName` of the client. */
  readonly scope: string;
  readonly matches: (event: Event) => boolean;
  /** Position of the client; undefined: new events only. */
  readonly from: Position | undefined;
  readonly maxUnsentBytes: number;
  /** Called when the client is disconnected because it reads too slowly. */
  readonly onDropped?: (() => void) | undefined;
}

/** About two milliseconds of work. */
const maxReadRecords = 200;
const bufferedBytes = 65_536;
/** What is read at once waits in memory for a slow client. */
const maxReadBytes = 2 ** 17;
/** Time for unsent data to be read when a stream ends. */
const endWithinMs = 1_000;

/**
 * The server-sent events of one client. It sends stored events from the position of the client on, then listens to the
 * tailer. A client with more than `maxUnsentBytes` unsent is disconnected.
 */
export class EventStream implements Listener {
  readonly output: Readable;
  readonly scope: string;
  readonly matches: (event: Event) => boolean;
  readonly #parts: StreamParts;
  /** Position after everything sent. While the stream listens, this is the tailer's own position. */
  #position: Position;
  #isClosed = false;
  /** Notified when the client reads, and on close. */
  readonly #demand = new Condition();

  constructor(parts: StreamParts) {
    this.#parts = parts;
    this.scope = parts.scope;
    this.matches = parts.matches;
    this.#position = [...(parts.from ?? parts.tailer.position)];
    this.output = new Readable({ highWaterMark: bufferedBytes, read: () => this.#demand.notifyAll() });
    this.output.once('close', () => this.#close());
  }

  /** Whether the client is behind: it has not taken what fills the buffer. */
  get isSlow(): boolean {
    return this.output.readableLength > bufferedBytes;
  }

  /** Reads up to the tailer's position and listens from there on. Resolves then, or when the stream is closed. */
  async start(): Promise<void> {
    const { tailer, from } = this.#parts;
    this.output.push(openingMessage(this.#position));
    if (from !== undefined) await this.#sendGap();
    for (;;) {
      if (this.#isClosed) return;
      const partition = mostUnread(this.#position, tailer.position);
      if (partition !== undefined) await this.#read(partition);
      // The client has read from another node, beyond the tailer's position.
      else if (mostUnread(tailer.position, this.#position) !== undefined) await tailer.grown();
      else break;
    }
    this.#position = tailer.position;
    tailer.listen(this);
  }

  receive(messages: Buffer): void {
    if (this.#isClosed) return;
    if (this.output.readableLength <= this.#parts.maxUnsentBytes) {
      this.output.push(messages);
      return;
    }
    this.#parts.onDropped?.();
    this.#close();
    this.output.destroy();
  }

  /** Sends the position as a heartbeat, unless unsent data contains one. */
  beat(): void {
    if (!this.#isClosed && this.output.readableLength === 0) this.output.push(heartbeatMessage(this.#position));
  }

  /** Ends the stream gracefully; forcibly if the client doesn't read. */
  end(): void {
    if (this.#isClosed) return;
    this.#close();
    this.output.push(null);
    setTimeout(() => this.output.destroy(), endWithinMs).unref();
  }

  #close(): void {
    this.#isClosed = true;
    this.#parts.tailer.unlisten(this);
    this.#demand.notifyAll();
  }

  /** Sends some events of the partition, and waits until there is capacity for more. */
  async #read(partition: number): Promise<void> {
    await this.#parts.serialize('read', async () => {
      await this.#send(partition);
      await nextTurn();
    });
    if (this.output.readableLength >= bufferedBytes && !this.#isClosed) await this.#demand.wait();
  }

  async #send(partition: number): Promise<void> {
    const { log, tailer } = this.#parts;
    const offset = this.#position[partition]!;
    const count = Math.min(maxReadRecords, tailer.position[partition]! - offset);
    const { records, nextOffset } = await log.read(topics.events, partition, offset, count, maxReadBytes);
    // Records were removed, the offset is beyond the end, or it never held a record.
    if (records[0]?.offset !== offset) await this.#sendGap();
    if (this.#isClosed) return;
    const start = this.#position[partition]!;
    const held = records.filter((record) => record.offset >= start);
    const messages = held.map((record) => this.#messageOf(record)).join('');
    if (messages !== '') this.output.push(messages);
    if (nextOffset > offset) this.#position = this.#position.with(partition, Math.max(start, nextOffset));
  }

  /** Advances past a record. Returns its message, or empty text. */
  #messageOf(record: LogRecord): string {
    this.#position = this.#position.with(record.partition, record.offset + 1);
    if (scopeOfKey(record.key) !== this.scope) return '';
    const event = decodeRecord(codecs.event, record);
    return isBadRecord(event) || !this.matches(event) ? '' : eventMessage(event, this.#position);
  }

  /** Advances to the oldest records where the position is older, and reports the missing ones. */
  async #sendGap(): Promise<void> {
    const bounds = await boundsOf(this.#parts.log);
    if (this.#isClosed) return;
    const starts = bounds.map((held) => ({
      partition: held.partition,
      ...within(held, this.#position[held.partition]!),
    }));
    this.#position = starts.map(({ next }) => next);
    const missed = starts
      .filter(({ missing }) => missing > 0)
      .map(({ partition, missing }) => ({ partition, missing }));
    if (missed.length > 0) this.output.push(gapMessage(missed, this.#position));
  }
}
