/** A TCP proxy before a server, by which a test makes the network between it and a client bad. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { pipeline, Transform, type TransformCallback } from 'node:stream';
import { type Address, loopback } from './ports.js';

/** Starts a proxy before the server at `target`, on a free port. */
export async function startProxy(target: Address): Promise<BadNetwork> {
  const proxy = new BadNetwork(target);
  await proxy.start();
  return proxy;
}

/** A proxy whose network a test makes slow, deaf or dead. */
export class BadNetwork implements Address {
  readonly host = loopback;
  /** Delay of each chunk of up to 64 kB, in both directions. */
  delayMs = 0;
  /** Forwards requests and drops responses. */
  dropsAnswers = false;
  /** Holds requests from the first piece that this accepts, until `mend`. */
  holdsFrom: (piece: Buffer) => boolean = () => false;
  /** Pieces of answers that were dropped so far. */
  droppedPieces = 0;
  /** Bytes of answers that were passed on so far. */
  answeredBytes = 0;
  readonly #target: Address;
  readonly #server: Server = createServer((client) => this.#accept(client));
  readonly #sockets = new Set<Socket>();
  #isCutOff = false;
  /** Forwards the held chunks; undefined while none are held. */
  #held: (() => void)[] | undefined;

  constructor(target: Address) {
    this.#target = target;
  }

  async start(): Promise<void> {
    this.#server.listen(0, loopback);
    await once(this.#server, 'listening');
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends all connections, and new ones as soon as they are made, until `mend`. */
  cutOff(): void {
    this.#isCutOff = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Holds requests until `mend`. */
  hold(): void {
    this.#held ??= [];
  }

  /** Pieces that are held. */
  get heldPieces(): number {
    return this.#held?.length ?? 0;
  }

  /** The network is good again. */
  mend(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const pass of held) pass();
    this.#isCutOff = false;
    this.dropsAnswers = false;
    this.delayMs = 0;
  }

  async stop(): Promise<void> {
    this.cutOff();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(client: Socket): void {
    if (this.#isCutOff) {
      client.destroy();
      return;
    }
    const server = connect({ ...this.#target, noDelay: true });
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    }
    // When either side ends, however, the other does.
    const requests = this.#passage((piece, done) => {
      const pass = () => done(null, piece);
      if (!this.#held && this.holdsFrom(piece)) this.hold();
      if (this.#held) this.#held.push(pass);
      else this.#delayed(pass);
    });
    const answers = this.#passage((piece, done) =>
      this.#delayed(() => {
        if (this.dropsAnswers) this.droppedPieces += 1;
        else this.answeredBytes += piece.length;
        if (this.dropsAnswers) done();
        else done(null, piece);
      }),
    );
    pipeline(client, requests, server, () => client.destroy());
    pipeline(server, answers, client, () => server.destroy());
  }

  #delayed(pass: () => void): void {
    if (this.delayMs === 0) pass();
    else setTimeout(pass, this.delayMs);
  }

  #passage(pass: (piece: Buffer, done: TransformCallback) => void): Transform {
    return new Transform({ transform: (piece: Buffer, _, done) => pass(piece, done) });
  }
}
