/**
 * Tile38 as a peer: a running server, its fences as channels without subscribers, its fixes as SETs.
 *
 * It is measured as it is used, over a socket with many commands under way; evaluation alone is called in process. End
 * to end it is the other way round: we keep everything on disk and Tile38 keeps nothing.
 */
import { connect, type Socket } from 'node:net';
import type { GeofenceRecord } from '../schemas/json/geofence.js';
import type { Fix } from './workload.js';

const commandsUnderWay = 256;

const encode = (parts: readonly string[]): string =>
  `*${parts.length}\r\n${parts.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`).join('')}`;

export class Tile38 {
  readonly #socket: Socket;
  #underWay = 0;
  #wake: () => void = () => {};
  #failure: Error | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (data: Buffer) => this.#count(data));
    socket.on('error', (error) => this.#fail(error));
  }

  /** `address` is host:port. */
  static connect(address: string): Promise<Tile38> {
    const [host = '', port = ''] = address.split(':');
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port: Number(port), noDelay: true });
      socket.once('connect', () => resolve(new Tile38(socket))).once('error', reject);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Forgets everything, then watches these fences. */
  async watch(fences: Iterable<GeofenceRecord>): Promise<void> {
    await this.#send([['FLUSHDB']]);
    await this.#send(channels(fences));
  }

  /** Reports the fixes; resolves when all are answered. */
  async report(fixes: Iterable<Fix>): Promise<void> {
    await this.#send(sets(fixes));
  }

  async #send(commands: Iterable<readonly string[]>): Promise<void> {
    let text = '';
    let gathered = 0;
    for (const command of commands) {
      text += encode(command);
      gathered += 1;
      if (gathered < commandsUnderWay / 4) continue;
      await this.#write(text, gathered);
      [text, gathered] = ['', 0];
    }
    await this.#write(text, gathered);
    await this.#until(0);
  }

  async #write(text: string, commands: number): Promise<void> {
    if (commands === 0) return;
    await this.#until(commandsUnderWay - commands);
    this.#underWay += commands;
    this.#socket.write(text);
  }

  async #until(atMost: number): Promise<void> {
    while (this.#underWay > atMost) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      if (this.#failure) throw this.#failure;
    }
  }

  /** Every answer to these commands is one line. */
  #count(data: Buffer): void {
    if (data.includes('-ERR')) this.#fail(new Error(data.toString().slice(0, 200)));
    for (let at = data.indexOf(10); at >= 0; at = data.indexOf(10, at + 1)) this.#underWay -= 1;
    this.#wake();
  }

  #fail(error: Error): void {
    this.#failure = error;
    this.#wake();
  }
}

function* channels(fences: Iterable<GeofenceRecord>): Generator<string[]> {
  for (const { externalId, center, radius, ring } of fences) {
    const [longitude, latitude] = center;
    const detect = ['fleet', 'FENCE', 'DETECT', 'enter,exit'];
    if (ring)
      yield [
        'SETCHAN',
        externalId,
        'WITHIN',
        ...detect,
        'OBJECT',
        JSON.stringify({ type: 'Polygon', coordinates: [ring] }),
      ];
    else yield ['SETCHAN', externalId, 'NEARBY', ...detect, 'POINT', `${latitude}`, `${longitude}`, `${radius}`];
  }
}

function* sets(fixes: Iterable<Fix>): Generator<string[]> {
  for (const { device, latitude, longitude } of fixes) {
    yield ['SET', 'fleet', `device-${device}`, 'POINT', `${latitude}`, `${longitude}`];
  }
}
