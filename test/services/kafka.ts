/**
 * Apache Kafka for tests: one broker, or three that replicate.
 *
 * Clients speak to the listener CLIENT, which demands what the test asks for; brokers speak to each other in the clear over another. No
 * authorizer is set: whoever proved who they are may do all.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { Kafka, logLevel } from 'kafkajs';
import { until } from '../support/until.js';
import type { ServerTls } from './certificates.js';
import { freePorts, loopback } from './ports.js';
import { run } from './provider.js';
import { type Program, type Server, type Software, startTimeoutMs, together } from './server.js';

export interface KafkaSettings {
  /** Default 1. Three keep each record thrice. */
  readonly brokers?: 1 | 3;
  readonly tls?: ServerTls;
  readonly sasl?: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
    /** Passwords by name. */
    readonly users: Readonly<Record<string, string>>;
  };
}

export interface KafkaServer extends Server {
  /** `host:port` of each. */
  readonly brokers: readonly string[];
  /** One by one; what is done to the server is done to all of them. */
  readonly nodes: readonly Server[];
  readonly version: string;
}

export const kafka: Software = {
  name: 'kafka',
  commands: ['java'],
  folder: { variable: 'FENCELINE_TEST_KAFKA', inImage: '/opt/kafka/libs' },
  image: 'apache/kafka:3.9.1',
};

export async function startKafka(settings: KafkaSettings = {}): Promise<KafkaServer> {
  const count = settings.brokers ?? 1;
  const ports = await freePorts(3 * count);
  const brokers = Array.from({ length: count }, (_, index): Broker => {
    const [client, internal, controller] = ports.slice(3 * index) as [number, number, number];
    return { id: index + 1, client, internal, controller };
  });
  const clusterId = Buffer.from(randomUUID().slice(0, 16)).toString('base64url');
  const nodes = await run(brokers.map((broker) => programOf(broker, brokers, clusterId, settings)));
  await until(async () => (await brokersKnownTo(brokers[0]!)) === count, { timeoutMs: startTimeoutMs });
  return Object.assign(together(nodes), {
    brokers: brokers.map(({ client }) => `${loopback}:${client}`),
    nodes,
    version: installedVersion() ?? kafka.image,
  });
}

/** The ports of one. */
interface Broker {
  readonly id: number;
  readonly client: number;
  readonly internal: number;
  readonly controller: number;
}

function programOf(broker: Broker, all: readonly Broker[], clusterId: string, settings: KafkaSettings): Program {
  const java = 'java -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dlog4j.configuration=file:log4j.properties';
  const onJars = `${java} -cp "$${kafka.folder!.variable}/*"`;
  const { client, internal, controller } = broker;
  const listeners = `CLIENT://$BIND:${client},INTERNAL://$BIND:${internal},CONTROLLER://$BIND:${controller}`;
  return {
    software: kafka,
    ports: [client, internal, controller],
    files: {
      'server.properties': propertiesOf(broker, all, settings),
      'log4j.properties': logging,
      ...certificateFiles(settings.tls),
    },
    script: [
      `[ -e formatted ] || { ${onJars} kafka.tools.StorageTool format -t ${clusterId} -c server.properties ${scramOf(settings)}`,
      `[ $? -eq 0 ] && touch formatted || exit 1; }`,
      `exec ${onJars} kafka.Kafka server.properties --override "listeners=${listeners}"`,
    ].join('\n'),
    ping: () => brokersKnownTo(broker),
  };
}

function propertiesOf({ id, client, internal, controller }: Broker, all: readonly Broker[], settings: KafkaSettings): string {
  const security = `${settings.sasl ? 'SASL_' : ''}${settings.tls ? 'SSL' : 'PLAINTEXT'}`;
  const properties = {
    'process.roles': 'broker,controller',
    'node.id': id,
    'controller.quorum.voters': all.map((broker) => `${broker.id}@${loopback}:${broker.controller}`).join(),
    listeners: `CLIENT://${loopback}:${client},INTERNAL://${loopback}:${internal},CONTROLLER://${loopback}:${controller}`,
    'advertised.listeners': `CLIENT://${loopback}:${client},INTERNAL://${loopback}:${internal}`,
    'listener.security.protocol.map': `CLIENT:${security},INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT`,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'INTERNAL',
    'log.dirs': 'data',
    'default.replication.factor': all.length,
    'offsets.topic.replication.factor': all.length,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.replication.factor': all.length,
    'transaction.state.log.min.isr': Math.min(2, all.length),
    'group.initial.rebalance.delay.ms': 0,
    'auto.create.topics.enable': false,
    // A killed broker is forgotten soon, so that it may come back soon.
    'broker.session.timeout.ms': 3_000,
    'broker.heartbeat.interval.ms': 500,
    'log.cleaner.dedupe.buffer.size': 16 << 20,
    ...tlsProperties(settings.tls),
    ...saslProperties(settings.sasl),
  };
  return lines(properties);
}

const lines = (properties: Readonly<Record<string, unknown>>): string =>
  Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

const logging = lines({
  'log4j.rootLogger': 'WARN, console',
  'log4j.appender.console': 'org.apache.log4j.ConsoleAppender',
  'log4j.appender.console.layout': 'org.apache.log4j.PatternLayout',
  'log4j.appender.console.layout.ConversionPattern': '%d %p %m%n',
});

function certificateFiles(tls: ServerTls | undefined): Record<string, string> {
  if (!tls) return {};
  const { ca, server } = tls.certificates;
  return { 'authority.pem': ca, 'server.pem': `${server.key}${server.cert}` };
}

function tlsProperties(tls: ServerTls | undefined): Record<string, string> {
  if (!tls) return {};
  return {
    'listener.name.client.ssl.keystore.type': 'PEM',
    'listener.name.client.ssl.keystore.location': 'server.pem',
    'listener.name.client.ssl.truststore.type': 'PEM',
    'listener.name.client.ssl.truststore.location': 'authority.pem',
    'listener.name.client.ssl.client.auth': tls.demandsClientCertificate ? 'required' : 'none',
  };
}

function saslProperties(sasl: KafkaSettings['sasl']): Record<string, string> {
  if (!sasl) return {};
  const jaas = `listener.name.client.${sasl.mechanism}.sasl.jaas.config`;
  const security = 'org.apache.kafka.common.security';
  const users = Object.entries(sasl.users).map(([name, password]) => `user_${name}="${password}"`);
  return {
    'sasl.enabled.mechanisms': sasl.mechanism.toUpperCase(),
    [jaas]:
      sasl.mechanism === 'plain'
        ? `${security}.plain.PlainLoginModule required ${users.join(' ')};`
        : `${security}.scram.ScramLoginModule required;`,
  };
}

/** SCRAM's users are in the cluster's own records, from the beginning. */
function scramOf({ sasl }: KafkaSettings): string {
  if (!sasl || sasl.mechanism === 'plain') return '';
  return Object.entries(sasl.users)
    .map(([name, password]) => `--add-scram '${sasl.mechanism.toUpperCase()}=[name=${name},password=${password}]'`)
    .join(' ');
}

/** How many brokers one of them has heard of. */
async function brokersKnownTo({ internal }: Broker): Promise<number> {
  const client = new Kafka({
    brokers: [`${loopback}:${internal}`],
    logLevel: logLevel.NOTHING,
    connectionTimeout: 1_000,
    requestTimeout: 1_000,
    retry: { retries: 0 },
  });
  const admin = client.admin();
  try {
    await admin.connect();
    return (await admin.describeCluster()).brokers.length;
  } finally {
    await admin.disconnect();
  }
}

function installedVersion(): string | undefined {
  const folder = process.env[kafka.folder!.variable];
  if (!folder) return undefined;
  return readdirSync(folder).flatMap((name) => /^kafka-clients-(.*)\.jar$/.exec(name)?.[1] ?? [])[0];
}
