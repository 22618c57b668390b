/** The interface of a running node, embedded or in a cluster. */
import type { FastifyInstance } from 'fastify';
import type { Space } from '../backends/embedded/space.js';
import type { ConfigurationReader, EncodedWriter } from '../pipeline/catalog/types.js';

/** A node that runs, until its owner stops it or a part fails. */
export interface Node {
  readonly app: FastifyInstance;
  readonly configuration: ConfigurationReader;
  readonly writer: EncodedWriter;
  /** Resolves to true on one of the nodes that start at the same time: it creates the first project. */
  claimFirstProject(): Promise<boolean>;
  /** Lets `/health/ready` answer 200. Called when everything that a start prints is printed. */
  markStarted(): void;
  /** Returns a link that signs its first visitor in as owner of the project. It expires after an hour. */
  createSignInLink(project: string): Promise<string>;
  /** Rejects when a part fails. The process must then end. */
  readonly failed: Promise<never>;
  /** Answers open requests, finishes batches in flight, and closes everything. */
  stop(): Promise<void>;
}

/** A running part of a node. */
export interface Part {
  /** Rejects when the part fails. Absent: it fails only in its calls. */
  readonly done?: Promise<unknown> | undefined;
  /** Finishes what is in flight. */
  stop(): Promise<void>;
}

interface Closable {
  readonly done?: Promise<unknown>;
  close(): Promise<void>;
}

/** Returns the part of something that is closed. Absent: a part that does nothing. */
export const closing = (closable: Closable | undefined): Part => ({
  done: closable?.done,
  stop: async () => closable?.close(),
});

/**
 * Rejects when a part has failed, once no thread writes to the data folder. Never resolves. LMDB does not finish a
 * write whose thread has ended, so an exit in between would hang until the process is killed, and have no status.
 */
export async function failureOf(parts: readonly Part[], space: Pick<Space, 'endWrites'>): Promise<never> {
  try {
    return await Promise.race(parts.flatMap(({ done }) => (done === undefined ? [] : [rejectionOf(done)])));
  } catch (error) {
    await space.endWrites();
    throw error;
  }
}

/** Returns a promise that rejects with the given one and never resolves. */
export const rejectionOf = (promise: Promise<unknown>): Promise<never> =>
  promise.then(() => new Promise<never>(() => {}));

/** Stops one part after the other. */
export async function stopInOrder(parts: readonly Part[]): Promise<void> {
  for (const part of parts) await part.stop();
}
