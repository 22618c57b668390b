/** What the client of Kafka reports. */
import { expect, test } from 'vitest';
import { freePorts } from '../../../../testing/services/ports.js';
import { noObserver } from '../../client-observer.js';
import { createKafka } from './client.js';

// Nothing is sent without a connection. While all brokers were down, no request had failed, and no alert told it.
test('regression: an attempt to connect is a request, which fails where no broker listens', async () => {
  const [port] = await freePorts(1);
  const ended: string[] = [];
  const observer = {
    ...noObserver,
    started: (operation: string) => (hasFailed: boolean) =>
      void ended.push(`${operation} ${hasFailed ? 'failed' : 'succeeded'}`),
  };
  const options = { brokers: [`127.0.0.1:${port}`], clientId: 'test' } as never;
  const admin = createKafka(options, () => {}, observer).admin({ retry: { retries: 0 } });
  await expect(admin.connect()).rejects.toThrow('ECONNREFUSED');
  expect(new Set(ended)).toEqual(new Set(['Connect failed']));
});
