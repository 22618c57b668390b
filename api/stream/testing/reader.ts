/** A client of a stream for tests. */
import { topics } from '../../../pipeline/ports.js';
import { EventStream, type StreamParts } from '../event-stream.js';
import type { Membership } from '../followers.js';
import { type Position, parsePosition } from '../position.js';
import type { Missing } from '../start.js';
import { interpret } from './standard-parser.js';

/** Reads at arbitrary times, loses its connection anywhere, and reconnects with the last complete id. */
export class Reader {
  /** Ids of complete messages, over all connections. */
  readonly ids: string[] = [];
  readonly gaps: { partitions: Missing[] }[] = [];
  cuts = 0;
  #firstId = '';
  #lastEventId = '';
  #stream: EventStream | undefined;
  #text = '';

  constructor(
    private readonly join: () => Promise<Membership>,
    private readonly parts: Omit<StreamParts, 'tailer' | 'from'>,
  ) {}

  /** Returns whether a stream is open. */
  get isConnected(): boolean {
    return this.#stream !== undefined;
  }

  /** First position received. */
  get start(): Position | undefined {
    return this.#parsed(this.#firstId);
  }

  /** Last position received. */
  get position(): Position | undefined {
    return this.#parsed(this.#lastEventId);
  }

  /** Opens a stream after what was read, or at `from` the first time. Does nothing if one is open. */
  async connect(from?: Position): Promise<void> {
    if (this.#stream) return;
    const membership = await this.join();
    const stream = new EventStream({ ...this.parts, tailer: membership.tailer, from: this.position ?? from });
    stream.output.on('data', (bytes: Buffer) => {
      // Buffered data may still be emitted after the stream was destroyed.
      if (this.#stream === stream) this.#text += bytes.toString();
    });
    stream.output.once('close', () => {
      membership.leave();
      if (this.#stream !== stream) return;
      this.cuts += 1;
      this.#lose();
    });
    this.#stream = stream;
    void stream.start();
  }

  /** Loses the connection after this share of the received text. */
  disconnect(share: number): void {
    const stream = this.#stream;
    this.#text = this.#text.slice(0, Math.ceil(this.#text.length * share));
    this.#lose();
    stream?.output.destroy();
  }

  /** Stops reading, as a slow client does. */
  pause(): void {
    this.#stream?.output.pause();
  }

  /** Reads on. */
  resume(): void {
    this.#stream?.output.resume();
  }

  /** Sends the heartbeat that is otherwise sent by time. */
  beat(): void {
    this.#stream?.beat();
  }

  /** Processes complete messages and keeps the connection. */
  look(): void {
    const end = this.#text.lastIndexOf('\n\n') + 2;
    if (end < 2) return;
    const { messages, lastEventId } = interpret(this.#text.slice(0, end));
    this.#firstId ||= interpret(this.#text.slice(0, this.#text.indexOf('\n\n') + 2)).lastEventId;
    this.#lastEventId = lastEventId;
    this.#text = this.#text.slice(end);
    for (const { type, data } of messages) {
      if (type === 'gap') this.gaps.push(JSON.parse(data));
      else this.ids.push(JSON.parse(data)._id);
    }
  }

  #parsed(id: string): Position | undefined {
    return parsePosition(id, this.parts.log.partitions(topics.events));
  }

  #lose(): void {
    this.look();
    this.#text = '';
    this.#stream = undefined;
  }
}
