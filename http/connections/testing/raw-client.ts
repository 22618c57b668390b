/** A client that writes bytes to a socket, for requests that no HTTP library would send. */
import { connect, type Socket } from 'node:net';

const open: RawClient[] = [];

/** Closes all clients. Call it after each test. */
export function closeClients(): void {
  for (const { socket } of open.splice(0)) socket.destroy();
}

/** A socket and the text that it received. */
export class RawClient {
  readonly socket: Socket;
  text = '';
  error: NodeJS.ErrnoException | undefined;
  readonly ended: Promise<void>;

  /** @param isReading false: the client reads nothing until its socket is resumed. */
  constructor(port: number, { allowHalfOpen = false, isReading = true, localAddress = '127.0.0.1' } = {}) {
    this.socket = connect({ host: '127.0.0.1', port, allowHalfOpen, localAddress });
    this.socket.on('data', (data) => {
      this.text += data.toString('latin1');
    });
    if (!isReading) this.socket.pause();
    this.socket.on('error', (error) => {
      this.error = error;
    });
    this.ended = new Promise((resolve) => this.socket.once('close', () => resolve()));
    open.push(this);
  }

  /** Returns the status of each answer that has begun to arrive. */
  get statuses(): number[] {
    return [...this.text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  }

  /** Returns `meta` of the last answer. */
  get meta(): { code: number; type: string; message: string; requestId: string } {
    return JSON.parse(this.text.slice(this.text.lastIndexOf('\r\n\r\n') + 4)).meta;
  }

  /** Waits until the condition holds. Rejects when the connection closes first, or after two minutes. */
  async until(condition: () => boolean): Promise<void> {
    const endMs = Date.now() + 120_000;
    while (!condition()) {
      if (this.socket.destroyed) throw new Error(`the connection was closed first: ${this.error ?? 'no error'}`);
      if (Date.now() > endMs) throw new Error(`not in time; received ${JSON.stringify(this.text.slice(-500))}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}
