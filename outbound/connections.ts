/**
 * The connection pools: few connections per origin, kept idle for seconds.
 *
 * Input: jobs, each for one origin. Output: a connection for each job in turn, until the job returns it. undici's pools
 * are not used. They open a new connection whenever a request was aborted, and hostile responses are aborted often.
 */
import { Connection } from './connection.js';
import type { ConnectorParts } from './connector.js';

/** A job that needs a connection for a while. */
export interface Job {
  run(connection: Connection): void;
  /** Tests whether enough of its time limit is left to begin. A waiting job without it ends by itself. */
  hasTime(): boolean;
  /** Called instead of `run` when connections are closed. */
  abandon(reason: string): void;
}

/** Bounds of every origin. */
interface ConnectionBounds {
  readonly maxConnectionsPerOrigin: number;
  readonly maxHeaderBytes: number;
}

/** Idle connections of all origins together; further ones are closed after use. */
const maxIdleConnections = 1_000;

/** The connections of a client to all origins. */
export class ConnectionPools {
  readonly parts: ConnectorParts;
  readonly bounds: ConnectionBounds;
  readonly #origins = new Map<string, OriginPool>();
  idle = 0;

  constructor(parts: ConnectorParts, bounds: ConnectionBounds) {
    this.parts = parts;
    this.bounds = bounds;
  }

  /** Returns the pool of an origin. It is discarded when its last connection closes, so it must be used at once. */
  to(origin: string): OriginPool {
    let connections = this.#origins.get(origin);
    if (connections === undefined) {
      connections = new OriginPool(origin, this, () => this.#origins.delete(origin));
      this.#origins.set(origin, connections);
    }
    return connections;
  }

  /** Abandons waiting jobs; requests in flight fail. */
  async close(): Promise<void> {
    await Promise.all([...this.#origins.values()].map((origin) => origin.close()));
  }
}

/** The pool of one origin. A busy connection belongs to exactly one job, from `run` to `release`. */
export class OriginPool {
  readonly #origin: string;
  readonly #pools: ConnectionPools;
  readonly #onEmpty: () => void;
  readonly #open = new Set<Connection>();
  /** A stack: the connection used last is reused first, so that surplus ones expire. */
  readonly #idle: Connection[] = [];
  /** Waiting jobs in order of arrival. */
  readonly #waiting = new Set<Job>();

  constructor(origin: string, pools: ConnectionPools, onEmpty: () => void) {
    this.#origin = origin;
    this.#pools = pools;
    this.#onEmpty = onEmpty;
  }

  /** Runs the job as soon as a connection is free. */
  acquire(job: Job): void {
    const idle = this.#idle.pop();
    if (idle !== undefined) {
      this.#pools.idle--;
      job.run(idle);
    } else if (this.#open.size < this.#pools.bounds.maxConnectionsPerOrigin) {
      job.run(this.#connect());
    } else {
      this.#waiting.add(job);
    }
  }

  /** Removes a waiting job. */
  cancel(job: Job): void {
    this.#waiting.delete(job);
    this.#endIfEmpty();
  }

  /** Replaces the job's lost connection by a new one. */
  replace(connection: Connection, job: Job): void {
    const replacement = this.#connect();
    this.#discard(connection);
    job.run(replacement);
  }

  /** Returns a connection to the pool; closes it if it is not `reusable`. */
  release(connection: Connection, reusable: boolean): void {
    connection.kept = reusable;
    const next = this.#nextWaiting();
    const kept = reusable && (next !== undefined || this.#pools.idle < maxIdleConnections);
    if (!kept) this.#discard(connection);
    if (next !== undefined) {
      this.#waiting.delete(next);
      next.run(kept ? connection : this.#connect());
    } else if (kept) {
      this.#pools.idle++;
      this.#idle.push(connection);
    }
  }

  #nextWaiting(): Job | undefined {
    for (const job of this.#waiting) if (job.hasTime()) return job;
    return undefined;
  }

  /** Abandons the waiting jobs and destroys all connections. */
  async close(): Promise<void> {
    for (const job of this.#waiting) job.abandon('the client was closed');
    await Promise.all([...this.#open].map((connection) => connection.destroy()));
  }

  #connect(): Connection {
    const { parts, bounds } = this.#pools;
    const connection = new Connection(this.#origin, parts, bounds.maxHeaderBytes, (lost) => this.#forgetIdle(lost));
    this.#open.add(connection);
    return connection;
  }

  /** Discards a closed idle connection. A busy one is released by its job. */
  #forgetIdle(connection: Connection): void {
    const index = this.#idle.indexOf(connection);
    if (index === -1) return;
    this.#idle.splice(index, 1);
    this.#pools.idle--;
    this.#discard(connection);
  }

  #discard(connection: Connection): void {
    this.#open.delete(connection);
    void connection.destroy();
    this.#endIfEmpty();
  }

  #endIfEmpty(): void {
    if (this.#open.size === 0 && this.#waiting.size === 0) this.#onEmpty();
  }
}
