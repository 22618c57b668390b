/**
 * docker-compose.yml fits the program that it starts. Its settings exist, every service has a health check, and no
 * password is known.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { clusterOptions } from '../../server/cluster-options.js';
import { loadConfiguration } from '../../server/config/load.js';
import { roles } from '../../server/config/schema.js';
import { encryptionKeyOf } from '../../server/keys/encryption-key.js';
import { version } from '../../server/version.js';
import {
  compose,
  environmentOf,
  interpolations,
  nodes,
  readRepositoryFile,
  repositoryFile,
  type Service,
} from './compose.js';

const services = Object.entries(compose.services);
const told = Object.fromEntries(interpolations.map(({ name }) => [name, randomBytes(32).toString('hex')]));
/** Variables that `.env.example` leaves empty. */
const secrets = [...readRepositoryFile('.env.example').matchAll(/^(\w+)=$/gm)].map(([, name]) => name as string);

/** Loads the configuration from a service's environment. */
function configured(service: Service) {
  const loaded = loadConfiguration({ flags: {}, environment: environmentOf(service, told) });
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  const given = clusterOptions(loaded.configuration);
  if (!given.ok) throw new Error(given.problems.join('\n'));
  return { configuration: loaded.configuration, ...given.options };
}

describe.each(nodes)('%s', (_, service) => {
  it('has an environment that the program accepts', () => {
    expect(configured(service).configuration.backend).toBe('cluster');
    const { FENCELINE_ENCRYPTION_KEY, FENCELINE_ADMIN_API_KEY } = environmentOf(service, told);
    expect(encryptionKeyOf(FENCELINE_ENCRYPTION_KEY!)).toHaveLength(32);
    expect(FENCELINE_ADMIN_API_KEY).toBeTruthy();
  });

  it('uses services that exist, and no more replicas than brokers', () => {
    const { kafka, redis, registry, clickHouse } = configured(service);
    const brokers = kafka.brokers.map((address) => address.split(':')[0]);
    const others = [redis.nodes[0]?.host, new URL(registry.url).hostname, new URL(clickHouse.url).hostname];
    for (const host of [...brokers, ...others]) expect(Object.keys(compose.services)).toContain(host);
    expect(kafka.replicationFactor).toBeLessThanOrEqual(brokers.length);
    expect(kafka.minInSyncReplicas).toBeLessThan(kafka.replicationFactor);
  });

  it('runs the image of this version', () => {
    expect(service.image).toBe(`fenceline:${version}`);
  });
});

describe('docker-compose.yml', () => {
  it('runs every role, with at least two processes of the roles that callers or events wait for', () => {
    const replicas = nodes.flatMap(([, service]) =>
      configured(service).configuration.roles.map((role) => [role, service.deploy?.replicas] as const),
    );
    expect(replicas.map(([role]) => role).toSorted()).toEqual([...roles].toSorted());
    for (const [role, count] of replicas) expect(count).toBeGreaterThanOrEqual(role === 'analytics' ? 1 : 2);
  });

  it('gives all nodes the same configuration except for what a role needs', () => {
    const ofOneRole = ['FENCELINE_ROLES', 'FENCELINE_HTTP_TRUSTED_PROXIES', 'NODE_OPTIONS'];
    const common = nodes.map(([, service]) =>
      Object.entries(environmentOf(service, told)).filter(([name]) => !ofOneRole.includes(name)),
    );
    for (const each of common) expect(each).toEqual(common[0]);
  });

  it.each(services)('checks the health of %s', (_, { build, healthcheck }) => {
    if (build === undefined) expect(healthcheck?.test[0]).toMatch(/^CMD/);
    else expect(readRepositoryFile('Dockerfile')).toMatch(/^HEALTHCHECK .*CMD \["node", "dist\/healthcheck\.mjs"\]$/m);
  });

  it.each(services)('names the version of the image of %s', (_, { image }) => {
    expect(image).toMatch(/:v?\d+\.\d+\.\d+(\.\d+)?(-alpine)?$/);
  });

  it.each(services)('has what %s needs', (_, { depends_on = {}, networks, volumes = [] }) => {
    for (const [name, { condition }] of Object.entries(depends_on)) {
      expect(compose.services).toHaveProperty([name]);
      expect(condition).toBe('service_healthy');
    }
    for (const network of networks) expect(compose.networks).toHaveProperty([network]);
    for (const [source = ''] of volumes.map((volume) => volume.split(':'))) {
      if (source.startsWith('.')) expect(existsSync(repositoryFile(source)), source).toBe(true);
      else expect(compose.volumes).toHaveProperty([source]);
    }
  });

  it('publishes ports only on the loopback address by default', () => {
    const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]));
    expect(published.map(([name]) => name)).toEqual(['proxy', 'prometheus', 'grafana']);
    for (const [, port] of published) expect(port).toMatch(/^\$\{\w+_ADDRESS:-127\.0\.0\.1:\d+\}:\d+$/);
  });

  it('refuses to start without the secrets that .env.example leaves empty, and has no others', () => {
    const demanded = interpolations.filter(({ rest }) => rest.startsWith(':?'));
    expect([...new Set(demanded.map(({ name }) => name))].toSorted()).toEqual(secrets.toSorted());
    expect(secrets).toHaveLength(4);
    for (const { name, rest } of interpolations)
      if (!rest.startsWith(':?')) expect(name).toMatch(/_ADDRESS$|^TRUSTED_PROXIES$/);
    const passwords = services.flatMap(([, { environment = {} }]) =>
      Object.entries(environment).filter(([name]) => /(PASSWORD|SECRET|KEY)$/.test(name)),
    );
    expect(passwords.length).toBeGreaterThan(secrets.length);
    for (const [name, value] of passwords) expect(value, name).toMatch(/^\$\{\w+:\?/);
  });
});
