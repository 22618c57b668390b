/** What `fenceline serve` runs, whatever is behind it. */
import type { FastifyInstance } from 'fastify';
import type { ConfigurationReader, ConfigurationWriter } from '../pipeline/catalog/types.js';

export interface Node {
  readonly app: FastifyInstance;
  readonly configuration: ConfigurationReader;
  readonly writer: ConfigurationWriter;
  /** Should this node make the first project, where there is none? One of those that start at once does. */
  mayGreet(): Promise<boolean>;
  /** Rejects when a part fails; the process must end then. */
  readonly failed: Promise<never>;
  /** Answers what was asked, finishes what is in flight, and closes everything. */
  stop(): Promise<void>;
}

/** A promise that only ever rejects, with the given one. */
export const failure = (promise: Promise<unknown>): Promise<never> => promise.then(() => new Promise<never>(() => {}));
