/** The log on a Kafka that requires TLS and a login. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectKafka } from '../../../backends/cluster/kafka/connection/connection.js';
import { createKafkaLog } from '../../../backends/cluster/kafka/log.js';
import type { KafkaOptions } from '../../../backends/cluster/options.js';
import { type Certificates, makeCertificates } from '../../../testing/services/certificates.js';
import { type KafkaServer, startKafka } from '../../../testing/services/kafka.js';
import { freshKafkaOptions, sameOnTheWire } from './fresh-kafka.js';
import { useLog } from './use-log.js';

const mechanism = 'scram-sha-512';
const password = randomUUID();
let certificates: Certificates;
let kafka: KafkaServer;

beforeAll(async () => {
  certificates = await makeCertificates();
  kafka = await startKafka({
    tls: { certificates, demandsClientCertificate: true },
    sasl: { mechanism, users: { fenceline: password } },
  });
});
afterAll(() => kafka.stop());

const secured = (changed: Partial<KafkaOptions> = {}): KafkaOptions => ({
  ...freshKafkaOptions(),
  brokers: kafka.brokers,
  tls: { ca: certificates.ca, ...certificates.client },
  sasl: { mechanism, username: 'fenceline', password },
  ...changed,
});

describe('Kafka behind TLS and a login', () => {
  test('appending, reading and both kinds of consumers work', async () => {
    const problems: string[] = [];
    const onProblem = (problem: string) => void problems.push(problem);
    const options = secured();
    const connection = await connectKafka(options, onProblem);
    const log = createKafkaLog({ ...options, connection, wire: sameOnTheWire, onProblem });
    await useLog(log);
    await log.close();
    await connection.close();
    expect(problems.join()).not.toContain(password);
  });

  test.each([
    ['a wrong password', () => ({ sasl: { mechanism, username: 'fenceline', password: `${password}!` } as const })],
    ['no login', () => ({ sasl: undefined as never })],
    ['no certificate of ours', () => ({ tls: { ca: certificates.ca } })],
    ['an authority that is not trusted', () => ({ tls: { ...certificates.client } })],
  ])('with %s the connection fails, without secrets in the error', async (_, changed) => {
    const told: string[] = [];
    const refused = connectKafka(secured(changed()), (problem) => void told.push(problem));
    told.push(
      String(
        await refused.then(
          () => 'connected',
          (error) => error.stack,
        ),
      ),
    );
    expect(told.join()).not.toContain(password);
    expect(told.at(-1)).not.toBe('connected');
  });
});
