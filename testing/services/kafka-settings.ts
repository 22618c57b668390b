/** Makes Kafka's configuration files from the test's settings. */
import type { ServerTls } from './certificates.js';
import { loopback } from './ports.js';

/** The brokers that a test needs. */
export interface KafkaSettings {
  /** Default 1. Three keep each record thrice. */
  readonly brokers?: 1 | 3;
  /** Copies of the topic that coordinates groups. Default: one on each broker. */
  readonly coordinatorReplicas?: number;
  readonly tls?: ServerTls;
  readonly sasl?: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
    /** Passwords by name. */
    readonly users: Readonly<Record<string, string>>;
  };
  /**
   * Users of the listener CLIENT may do only what they are granted. Users of INTERNAL may do and grant everything.
   */
  readonly isGuarded?: boolean;
}

/** The ports of one. */
export interface Broker {
  readonly id: number;
  readonly client: number;
  readonly internal: number;
  readonly controller: number;
}

/** Returns the files of a broker's folder by name. */
export const filesOf = (broker: Broker, all: readonly Broker[], settings: KafkaSettings): Record<string, string> => ({
  'server.properties': propertiesOf(broker, all, settings),
  'log4j.properties': loggingBefore4,
  'log4j2.properties': logging,
  ...certificateFiles(settings.tls),
});

function propertiesOf(
  { id, client, internal, controller }: Broker,
  all: readonly Broker[],
  settings: KafkaSettings,
): string {
  const security = `${settings.sasl ? 'SASL_' : ''}${settings.tls ? 'SSL' : 'PLAINTEXT'}`;
  const properties = {
    'process.roles': 'broker,controller',
    'node.id': id,
    'controller.quorum.voters': all.map((broker) => `${broker.id}@${loopback}:${broker.controller}`).join(),
    listeners: [`CLIENT://${loopback}:${client}`, `INTERNAL://${loopback}:${internal}`]
      .concat(`CONTROLLER://${loopback}:${controller}`)
      .join(),
    'advertised.listeners': `CLIENT://${loopback}:${client},INTERNAL://${loopback}:${internal}`,
    'listener.security.protocol.map': `CLIENT:${security},INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT`,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'INTERNAL',
    'log.dirs': 'data',
    'default.replication.factor': all.length,
    'offsets.topic.replication.factor': settings.coordinatorReplicas ?? all.length,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.replication.factor': all.length,
    'transaction.state.log.min.isr': Math.min(2, all.length),
    'group.initial.rebalance.delay.ms': 0,
    // Tests that wait for the end of a session ask for a short one.
    'group.min.session.timeout.ms': 1_000,
    'auto.create.topics.enable': false,
    // The controller forgets a killed broker soon, so that it can come back soon.
    'broker.session.timeout.ms': 3_000,
    'broker.heartbeat.interval.ms': 500,
    'log.cleaner.dedupe.buffer.size': 16 << 20,
    // Halves the processor time of an idle broker. Each thread wakes to look for work, and the controller writes a
    // record twice a second, which only tells that it lives.
    'num.network.threads': 1,
    'num.io.threads': 2,
    'metadata.max.idle.interval.ms': 10_000,
    ...tlsProperties(settings.tls),
    ...saslProperties(settings.sasl),
    ...(settings.isGuarded && authorizer),
  };
  return lines(properties);
}

const authorizer = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'super.users': 'User:ANONYMOUS',
};

const lines = (properties: Readonly<Record<string, unknown>>): string =>
  Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

/** Kafka logs through log4j 2 from version 4.0 on. Each library reads its own file and ignores the other's. */
export const loggingOptions =
  '-Dlog4j.configuration=file:log4j.properties -Dlog4j2.configurationFile=log4j2.properties';

const loggingBefore4 = lines({
  'log4j.rootLogger': 'WARN, console',
  'log4j.appender.console': 'org.apache.log4j.ConsoleAppender',
  'log4j.appender.console.layout': 'org.apache.log4j.PatternLayout',
  'log4j.appender.console.layout.ConversionPattern': '%d %p %m%n',
});

const logging = lines({
  'appender.console.type': 'Console',
  'appender.console.name': 'console',
  'appender.console.layout.type': 'PatternLayout',
  'appender.console.layout.pattern': '%d %p %m%n',
  'rootLogger.level': 'warn',
  'rootLogger.appenderRef.console.ref': 'console',
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

/**
 * Returns the arguments for formatting a broker's disk that create SCRAM's users. The cluster's own records have them.
 */
export function scramOf({ sasl }: KafkaSettings): string {
  if (!sasl || sasl.mechanism === 'plain') return '';
  return Object.entries(sasl.users)
    .map(([name, password]) => `--add-scram '${sasl.mechanism.toUpperCase()}=[name=${name},password=${password}]'`)
    .join(' ');
}
