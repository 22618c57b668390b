/** A reader of a stream for tests. */
import { topics } from '../../../pipeline/ports.js';
import { EventStream, type StreamParts } from '../event-stream.js';
import type { Place } from '../followers.js';
import { type Position, parsePosition } from '../position.js';
import type { Missing } from '../start.js';
import { interpret } from './standard-parser.js';

/** Reads when it wants to, loses its connection anywhere, and comes back with the last id that it has seen whole. */
export class Reader {
  /** Of messages that came whole, over all connections. */
  readonly ids: string[] = [];
  readonly gaps: { partitions: Missing[] }[] = [];
  cuts = 0;
  #firstId = '';
  #lastEventId = '';
  #stream: EventStream | undefined;
  #text = '';

  constructor(
    private readonly join: () => Promise<Place>,
    private readonly parts: Omit<StreamParts, 'tailer' | 'from'>,
  ) {}

  get isConnected(): boolean {
    return this.#stream !== undefined;
  }

  /** The first position that it was told. */
  get start(): Position | undefined {
    return this.#parsed(this.#firstId);
  }

  /** The last position that it was told. */
  get position(): Position | undefined {
    return this.#parsed(this.#lastEventId);
  }

  async connect(from?: Position): Promise<void> {
    if (this.#stream) return;
    const place = await this.join();
    const stream = new EventStream({ ...this.parts, tailer: place.tailer, from: this.position ?? from });
    stream.output.on('data', (bytes: Buffer) => {
      // What was buffered may still be handed out after the stream was destroyed.
      if (this.#stream === stream) this.#text += bytes.toString();
    });
    stream.output.once('close', () => {
      place.leave();
      if (this.#stream !== stream) return;
      this.cuts += 1;
      this.#lose();
    });
    this.#stream = stream;
    void stream.start();
  }

  /** Of what came since it connected, so much has reached it when the connection is lost. */
  disconnect(share: number): void {
    const stream = this.#stream;
    this.#text = this.#text.slice(0, Math.ceil(this.#text.length * share));
    this.#lose();
    stream?.output.destroy();
  }

  pause(): void {
    this.#stream?.output.pause();
  }

  resume(): void {
    this.#stream?.output.resume();
  }

  beat(): void {
    this.#stream?.beat();
  }

  /** Takes in what has come whole, without losing the connection. */
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
