import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clusterOptions } from './cluster-options.js';
import { loadConfiguration } from './config/load.js';
import { describeSettings } from './config/print.js';

function load(environment: Record<string, string> = {}) {
  const loaded = loadConfiguration({ environment, flags: {} });
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  return loaded;
}
const optionsOf = (environment: Record<string, string> = {}) => clusterOptions(load(environment).configuration);

test('the defaults are services on this machine, without TLS and without passwords', () => {
  const result = optionsOf();
  if (!result.ok) throw new Error(result.problems.join('\n'));
  const { kafka, redis, registry, clickHouse, stateRetentionMs } = result.options;
  expect(kafka).toMatchObject({
    brokers: ['127.0.0.1:9092'],
    prefix: 'fenceline.',
    partitions: 4,
    replicationFactor: -1,
  });
  expect(kafka.retentionMs).toMatchObject({ locations: 7 * 86_400_000, events: 30 * 86_400_000 });
  expect(redis).toMatchObject({ nodes: [{ host: '127.0.0.1', port: 6379 }], isCluster: false });
  expect(registry).toEqual({ url: 'http://127.0.0.1:8081' });
  expect(clickHouse).toMatchObject({ url: 'http://127.0.0.1:8123', database: 'fenceline', username: 'default' });
  expect(stateRetentionMs).toBe(90 * 86_400_000);
  for (const options of [kafka, redis, registry, clickHouse]) expect(options.tls).toBeUndefined();
});

test('certificates are read from files, and users and passwords are passed on', () => {
  const ca = join(mkdtempSync(join(tmpdir(), 'fenceline-options-')), 'ca.pem');
  writeFileSync(ca, '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n');
  const result = optionsOf({
    FENCELINE_KAFKA_BROKERS: 'one:9092, two:9093',
    FENCELINE_KAFKA_TLS: 'on',
    FENCELINE_KAFKA_CA_FILE: ca,
    FENCELINE_KAFKA_SASL_MECHANISM: 'scram-sha-512',
    FENCELINE_KAFKA_USERNAME: 'fenceline',
    FENCELINE_KAFKA_PASSWORD: 'of kafka',
    FENCELINE_REDIS_NODES: 'a:6379,[fd00::3]:6379',
    FENCELINE_REDIS_MODE: 'cluster',
    FENCELINE_REDIS_PASSWORD: 'of redis',
    FENCELINE_CLICKHOUSE_CA_FILE: ca,
  });
  if (!result.ok) throw new Error(result.problems.join('\n'));
  const { kafka, redis, clickHouse } = result.options;
  expect(kafka.sasl).toEqual({ mechanism: 'scram-sha-512', username: 'fenceline', password: 'of kafka' });
  expect(kafka.tls?.ca).toContain('BEGIN CERTIFICATE');
  expect(redis.nodes).toEqual([
    { host: 'a', port: 6379 },
    { host: 'fd00::3', port: 6379 },
  ]);
  expect(redis).toMatchObject({ isCluster: true, password: 'of redis' });
  expect(clickHouse.tls?.ca).toContain('BEGIN CERTIFICATE');
});

test.each([
  ['kafka.brokers', { FENCELINE_KAFKA_BROKERS: 'kafka' }],
  ['kafka.brokers', { FENCELINE_KAFKA_BROKERS: ',' }],
  ['kafka.brokers', { FENCELINE_KAFKA_BROKERS: '[fd00::2]:9092' }],
  ['kafka.replicationFactor', { FENCELINE_KAFKA_REPLICATION_FACTOR: '0' }],
  ['kafka.saslMechanism', { FENCELINE_KAFKA_SASL_MECHANISM: 'scram-sha-256', FENCELINE_KAFKA_USERNAME: 'a' }],
  [
    'kafka.saslMechanism',
    { FENCELINE_KAFKA_SASL_MECHANISM: 'plain', FENCELINE_KAFKA_USERNAME: 'a', FENCELINE_KAFKA_PASSWORD: 'b' },
  ],
  ['kafka.tls', { FENCELINE_KAFKA_CA_FILE: 'ca.pem' }],
  ['kafka.caFile', { FENCELINE_KAFKA_TLS: 'on', FENCELINE_KAFKA_CA_FILE: '/nonexistent/ca.pem' }],
  [
    'redis.certFile',
    { FENCELINE_REDIS_TLS: 'on', FENCELINE_REDIS_CERT_FILE: '', FENCELINE_REDIS_KEY_FILE: 'package.json' },
  ],
  [
    'redis.keyFile',
    { FENCELINE_REDIS_TLS: 'on', FENCELINE_REDIS_CERT_FILE: 'package.json', FENCELINE_REDIS_KEY_FILE: 'package.json' },
  ],
  ['redis.nodes', { FENCELINE_REDIS_NODES: 'a:1,b:2' }],
  ['redis.nodes', { FENCELINE_REDIS_NODES: 'a:70000' }],
  ['clickhouse.url', { FENCELINE_CLICKHOUSE_URL: 'https://user:secret@clickhouse:8443' }],
])('a problem with %s is reported', (key, environment) => {
  const result = optionsOf(environment as Record<string, string>);
  expect(result.ok ? [] : result.problems.map((problem) => problem.split(':')[0])).toContain(key);
  expect(JSON.stringify(result)).not.toContain('secret@');
});

test('roles are named, and passwords are never shown', () => {
  expect(load({ FENCELINE_ROLES: 'ingest, api' }).configuration.roles).toEqual(['ingest', 'api']);
  expect(loadConfiguration({ environment: { FENCELINE_ROLES: 'ingest,cook' }, flags: {} }).ok).toBe(false);
  expect(loadConfiguration({ environment: { FENCELINE_ROLES: ',' }, flags: {} }).ok).toBe(false);
  const shown = describeSettings(load({ FENCELINE_REDIS_PASSWORD: 'hidden' }).settings, true);
  expect(shown).not.toContain('hidden');
  expect(shown).toMatch(/redis\.password +\(set\)/);
});
