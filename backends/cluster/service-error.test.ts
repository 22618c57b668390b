/** Which errors of opening services take one line. Those of real services: `test/cluster/services.test.ts`. */
import { expect, test } from 'vitest';
import { answerOfService, ServiceError, serviceError } from './service-error.js';

test('the error of a service names it, once', async () => {
  const refused = new Error('Connection error: connect ECONNREFUSED 127.0.0.1:9092');
  const opening = answerOfService(Promise.reject(refused), 'Kafka at 127.0.0.1:9092');
  await expect(opening).rejects.toThrow(`Kafka at 127.0.0.1:9092: ${refused.message}`);
  await expect(answerOfService(opening, 'Kafka')).rejects.toThrow(/^Kafka at/);
  await expect(opening).rejects.toBeInstanceOf(ServiceError);
});

test('an end on request and a fault of the program stay what they are', () => {
  for (const error of [new DOMException('ended', 'AbortError'), new TypeError('x is not a function')])
    expect(serviceError(error, 'Redis')).toBe(error);
});
