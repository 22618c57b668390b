/**
 * Tile38 as a peer: its fences are channels, its fixes SETs, over one socket with many commands under way. A second
 * socket subscribes to the channels where events are wanted.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Condition } from '../../schemas/condition.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import { type Address, freePorts, loopback } from '../../testing/services/ports.js';
import { lacking, run } from '../../testing/services/provider.js';
import type { Server, Software } from '../../testing/services/server.js';
import { usageOf } from '../usage.js';
import type { Fix } from '../workload.js';
import type { Fence } from '../workloads/workload.js';
import type { Engine, Peer, Transition } from './engine.js';
import type { Scene } from './scene.js';

const commandsUnderWay = 256;
/** A channel of our own: what is published on it after a SET comes after the events of that SET. */
const markers = 'markers';
/** The first character of a refusal. */
const minus = 0x2d;

type Command = readonly string[];

const encode = (parts: Command): string =>
  `*${parts.length}\r\n${parts.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`).join('')}`;

/** A connection to Tile38 with many commands under way. */
export class Tile38 {
  readonly #socket: Socket;
  #underWay = 0;
  /** Notified of answers and of the end. */
  readonly #heard = new Condition();
  #failure: Error | undefined;
  /** Learns of a refused command or a lost connection, also while no caller of `send` waits. */
  onFailure: (error: Error) => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (data: Buffer) => this.#count(data));
    socket.on('error', (error) => this.#fail(error));
  }

  /** Opens a connection. Rejects if nothing listens. */
  static async connect({ host, port }: Address): Promise<Tile38> {
    const socket = connect({ host, port, noDelay: true });
    await once(socket, 'connect');
    return new Tile38(socket);
  }

  /** Closes the connection at once. */
  close(): void {
    this.#socket.destroy();
  }

  /** Forgets everything, then watches these fences. */
  async watch(fences: Iterable<GeofenceRecord>): Promise<void> {
    await this.send([['FLUSHDB']]);
    await this.send(channels(fences));
  }

  /** Reports the fixes; resolves when all are answered. */
  async report(fixes: Iterable<Fix>): Promise<void> {
    await this.send(sets(fixes));
  }

  /** Sends a few commands without waiting for their answers. */
  post(commands: readonly Command[]): void {
    this.#underWay += commands.length;
    this.#socket.write(commands.map(encode).join(''));
  }

  /** Sends commands; resolves when all are answered. One call at a time. */
  async send(commands: Iterable<Command>): Promise<void> {
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
      await this.#heard.wait();
      if (this.#failure) throw this.#failure;
    }
  }

  /** Every answer to these commands is one line. */
  #count(data: Buffer): void {
    if (data[0] === minus || data.includes('\n-')) this.#fail(new Error(`Tile38: ${data.toString().slice(0, 200)}`));
    for (let at = data.indexOf(10); at >= 0; at = data.indexOf(10, at + 1)) this.#underWay -= 1;
    this.#heard.notifyAll();
  }

  #fail(error: Error): void {
    this.#failure = error;
    this.#heard.notifyAll();
    this.onFailure(error);
  }
}

function* channels(fences: Iterable<GeofenceRecord>): Generator<Command> {
  for (const { externalId, center, radius, ring } of fences)
    yield channelOf({ number: Number(externalId), center, radiusM: radius as number, ring });
}

function channelOf({ number, center, radiusM, ring }: Fence): Command {
  const [longitude, latitude] = center;
  const detect = ['fleet', 'FENCE', 'DETECT', 'enter,exit'];
  const name = `fence-${number}`;
  if (ring === null)
    return ['SETCHAN', name, 'NEARBY', ...detect, 'POINT', `${latitude}`, `${longitude}`, `${radiusM}`];
  const object = JSON.stringify({ type: 'Polygon', coordinates: [ring] });
  return ['SETCHAN', name, 'WITHIN', ...detect, 'OBJECT', object];
}

function* sets(fixes: Iterable<Fix>): Generator<Command> {
  for (const { device, latitude, longitude } of fixes) {
    yield ['SET', 'fleet', `device-${device}`, 'POINT', `${latitude}`, `${longitude}`];
  }
}

const tile38Software: Software = { name: 'tile38', commands: ['tile38-server'], image: 'tile38/tile38' };

/** Starts a server. A durable one appends every command to a file, which it syncs every second. */
export async function startTile38(isDurable = false): Promise<Server & Address> {
  const [port] = (await freePorts(1)) as [number];
  const script = `exec tile38-server -h "$BIND" -p ${port} -d data --appendonly ${isDurable ? 'yes' : 'no'}`;
  const address = { host: loopback, port };
  // It accepts connections, and answers PING, before it has read its file. It refuses other commands until then.
  const ping = async () => {
    const connection = await Tile38.connect(address);
    await connection.send([['TTL', 'nothing', 'nothing']]).finally(() => connection.close());
  };
  const [server] = await run([{ software: tile38Software, ports: [port], files: {}, script, ping }]);
  return Object.assign(server!, address);
}

/** The caller that waits for the transitions of a fix. */
interface Waiting {
  readonly resolve: (transitions: readonly Transition[]) => void;
  readonly reject: (error: Error) => void;
}

/** Reads the events of all channels. */
class Subscriber {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #transitions = new Map<number, Transition[]>();
  #text = '';

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('utf8').on('data', (data: string) => this.#read(data));
  }

  static async connect({ host, port }: Address): Promise<Subscriber> {
    const socket = connect({ host, port, noDelay: true });
    await once(socket, 'connect');
    socket.write(encode(['PSUBSCRIBE', '*']));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    if (answer[0] === minus) throw new Error(`Tile38: ${answer}`);
    return new Subscriber(socket);
  }

  /** Resolves to the transitions of a fix when the marker behind it has come. */
  transitionsOf(fix: number): Promise<readonly Transition[]> {
    return new Promise((resolve, reject) => this.#waiting.set(fix, { resolve, reject }));
  }

  /** Rejects all that wait. */
  fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Of a message, only the last line matters: an event is JSON, a marker the number of a fix. */
  #read(data: string): void {
    const lines = (this.#text + data).split('\r\n');
    this.#text = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('{')) this.#add(line);
      else if (line.startsWith('fix-')) this.#finish(Number(line.slice(4)));
    }
  }

  #add(line: string): void {
    const { detect, hook, fields } = JSON.parse(line) as { detect: string; hook: string; fields: { after: number } };
    const fix = fields.after - 1;
    const transition: Transition = {
      fix,
      fence: Number(hook.slice('fence-'.length)),
      kind: detect as 'enter' | 'exit',
    };
    const others = this.#transitions.get(fix);
    if (others) others.push(transition);
    else this.#transitions.set(fix, [transition]);
  }

  #finish(fix: number): void {
    this.#waiting.get(fix)?.resolve(this.#transitions.get(fix) ?? []);
    this.#waiting.delete(fix);
    this.#transitions.delete(fix);
  }
}

class Tile38Engine implements Engine {
  readonly #server: Server & Address;
  readonly #scene: Scene;
  #connection: Tile38;
  #subscriber: Promise<Subscriber> | undefined;

  constructor(server: Server & Address, scene: Scene, connection: Tile38) {
    this.#server = server;
    this.#scene = scene;
    this.#connection = connection;
  }

  async load(fences: Iterable<Fence>): Promise<void> {
    const commands = function* () {
      for (const fence of fences) yield channelOf(fence);
    };
    await this.#connection.send(commands());
  }

  async apply(from: number, to: number): Promise<void> {
    const { devices, latitudes, longitudes } = this.#scene.fixes;
    const commands = function* () {
      for (let fix = from; fix < to; fix++)
        yield ['SET', 'fleet', `${devices[fix]}`, 'POINT', `${latitudes[fix]}`, `${longitudes[fix]}`];
    };
    await this.#connection.send(commands());
  }

  async locate(fix: number): Promise<readonly Transition[]> {
    this.#subscriber ??= Subscriber.connect(this.#server);
    const subscriber = await this.#subscriber;
    this.#connection.onFailure = (error) => subscriber.fail(error);
    const { devices, latitudes, longitudes } = this.#scene.fixes;
    const point = ['POINT', `${latitudes[fix]}`, `${longitudes[fix]}`];
    const transitions = subscriber.transitionsOf(fix);
    this.#connection.post([
      // The event carries the fields of the object, but none that is 0.
      ['SET', 'fleet', `${devices[fix]}`, 'FIELD', 'after', `${fix + 1}`, ...point],
      ['PUBLISH', markers, `fix-${fix}`],
    ]);
    return transitions;
  }

  put(fence: Fence): Promise<void> {
    return this.#connection.send([channelOf(fence)]);
  }

  async restart(): Promise<void> {
    this.#disconnect();
    await this.#server.kill();
    await this.#server.restart();
    this.#connection = await Tile38.connect(this.#server);
  }

  usage = async () => usageOf(this.#server.pid!);

  async stop(): Promise<void> {
    this.#disconnect();
    await this.#server.stop();
  }

  #disconnect(): void {
    void this.#subscriber?.then((subscriber) => subscriber.close());
    this.#subscriber = undefined;
    this.#connection.close();
  }
}

/** Tile38 with channels. */
export const tile38Peer: Peer = {
  name: 'tile38',
  about: 'a channel for each fence, a SET for each location, 256 under way on one socket',
  durability: 'with `appendonly yes` all but the last second: objects and channels are read again at the start',
  semantics: 'a sphere; compares with the object before, by arrival; an object that is new within a fence enters it',
  hasPolygons: true,
  install: 'go build in a clone of github.com/tidwall/tile38, with tile38-server on the PATH; or Docker',
  lacking: () => lacking(tile38Software),
  async version() {
    return process.env.TILE38_VERSION ?? 'unknown';
  },
  async start(scene, isDurable) {
    const server = await startTile38(isDurable);
    return new Tile38Engine(server, scene, await Tile38.connect(server));
  },
};
