/**
 * The connections there are: few per origin, idle ones for seconds.
 *
 * Flows in: jobs, each for one origin. Flows out: a connection to each job in turn, until the job gives it back.
 * undici's own pools are not used: they open a new connection whenever a request was aborted, and hostile answers are
 * aborted all the time.
 */
import { Connection } from './connection.js';
import type { ConnectorParts } from './connector.js';

/** Something that needs a connection for a while. */
export interface Job {
  run(connection: Connection): void;
  /** Connections are being closed. */
  abandon(): void;
}

export interface ConnectionBounds {
  readonly maxConnectionsPerOrigin: number;
  readonly maxHeaderBytes: number;
}

/** Of all origins together; those above are closed after use. */
const maxIdleConnections = 1_000;

export class Connections {
  readonly parts: ConnectorParts;
  readonly bounds: ConnectionBounds;
  readonly #origins = new Map<string, OriginConnections>();
  idle = 0;

  constructor(parts: ConnectorParts, bounds: ConnectionBounds) {
    this.parts = parts;
    this.bounds = bounds;
  }

  /** Those of an origin, which are forgotten when the last one is closed: to be used at once or not at all. */
  to(origin: string): OriginConnections {
    let connections = this.#origins.get(origin);
    if (connections === undefined) {
      connections = new OriginConnections(origin, this, () => this.#origins.delete(origin));
      this.#origins.set(origin, connections);
    }
    return connections;
  }

  /** Jobs that wait are abandoned; requests in flight fail. */
  async close(): Promise<void> {
    await Promise.all([...this.#origins.values()].map((origin) => origin.close()));
  }
}

/** A connection that isn't idle belongs to exactly one job, from `run` to `giveBack`. */
export class OriginConnections {
  readonly #origin: string;
  readonly #all: Connections;
  readonly #onEmpty: () => void;
  readonly #open = new Set<Connection>();
  /** The one used last is used next, so that those not needed grow old. */
  readonly #idle: Connection[] = [];
  /** In the order they came. */
  readonly #waiting = new Set<Job>();

  constructor(origin: string, all: Connections, onEmpty: () => void) {
    this.#origin = origin;
    this.#all = all;
    this.#onEmpty = onEmpty;
  }

  /** Runs the job as soon as there is a connection for it: now, or when another job gives its own back. */
  take(job: Job): void {
    const idle = this.#idle.pop();
    if (idle !== undefined) {
      this.#all.idle--;
      job.run(idle);
    } else if (this.#open.size < this.#all.bounds.maxConnectionsPerOrigin) {
      job.run(this.#connect());
    } else {
      this.#waiting.add(job);
    }
  }

  /** The job doesn't wait any longer. */
  leave(job: Job): void {
    this.#waiting.delete(job);
  }

  /** The job's connection is lost: it gets a new one. */
  replace(connection: Connection, job: Job): void {
    const replacement = this.#connect();
    this.#discard(connection);
    job.run(replacement);
  }

  /** A connection that is not `reusable` is closed at once. */
  giveBack(connection: Connection, reusable: boolean): void {
    connection.kept = reusable;
    const kept = reusable && (this.#waiting.size > 0 || this.#all.idle < maxIdleConnections);
    if (!kept) this.#discard(connection);
    const [next] = this.#waiting;
    if (next !== undefined) {
      this.#waiting.delete(next);
      next.run(kept ? connection : this.#connect());
    } else if (kept) {
      this.#all.idle++;
      this.#idle.push(connection);
    }
  }

  async close(): Promise<void> {
    for (const job of this.#waiting) job.abandon();
    await Promise.all([...this.#open].map((connection) => connection.destroy()));
  }

  #connect(): Connection {
    const { parts, bounds } = this.#all;
    const connection = new Connection(this.#origin, parts, bounds.maxHeaderBytes, (lost) => this.#forgetIdle(lost));
    this.#open.add(connection);
    return connection;
  }

  /** One in use is its job's to give back. */
  #forgetIdle(connection: Connection): void {
    const index = this.#idle.indexOf(connection);
    if (index === -1) return;
    this.#idle.splice(index, 1);
    this.#all.idle--;
    this.#discard(connection);
  }

  #discard(connection: Connection): void {
    this.#open.delete(connection);
    void connection.destroy();
    if (this.#open.size === 0 && this.#waiting.size === 0) this.#onEmpty();
  }
}
