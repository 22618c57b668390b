/** Why the services of a cluster can't be used. Commands report it in one line. */
import type { KafkaOptions } from './options.js';

/** A service is out of reach, refuses the login, or has what a process must not work with. The message names it. */
export class ServiceError extends Error {}

/** Returns how messages name Kafka. */
export const nameOfKafka = ({ brokers }: Pick<KafkaOptions, 'brokers'>): string => `Kafka at ${brokers.join(', ')}`;

const faultsOfPrograms = [TypeError, RangeError, ReferenceError, SyntaxError];

/**
 * Returns an error that came from a service as a {@link ServiceError}. `service` begins the message, if the error does
 * not name it: a service, or what could not be done with it. Returns an end on request and a fault of the program as
 * they are.
 */
export function serviceError(error: unknown, service?: string): unknown {
  const isOther =
    !(error instanceof Error) || error.name === 'AbortError' || faultsOfPrograms.some((kind) => error instanceof kind);
  if (isOther || error instanceof ServiceError) return error;
  return new ServiceError(service === undefined ? error.message : `${service}: ${error.message}`, { cause: error });
}

/** Waits for the answer of a service. Rejects with what {@link serviceError} returns. */
export const answerOfService = async <T>(step: Promise<T>, service?: string): Promise<T> =>
  step.catch((error: unknown) => {
    throw serviceError(error, service);
  });
