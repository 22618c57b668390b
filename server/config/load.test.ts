import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfiguration } from './load.js';
import { describeSettings } from './print.js';
import { settings } from './settings.js';

const configFile = (text: string): string => {
  const path = join(mkdtempSync(join(tmpdir(), 'fenceline-config-')), 'fenceline.yaml');
  writeFileSync(path, text);
  return path;
};
const load = (environment: Record<string, string> = {}, flags: Record<string, string> = {}, file?: string) =>
  loadConfiguration({ environment, flags, ...(file !== undefined && { file }) });

describe('configuration', () => {
  test('every setting has a default', () => {
    const loaded = load();
    expect(loaded.ok && loaded.configuration.port).toBe(8080);
    expect(loaded.ok && loaded.settings.every(({ source }) => source === 'default')).toBe(true);
  });

  test('a flag beats the environment, which beats the file, which beats the default', () => {
    const file = configFile('port: 1001\nhost: 0.0.0.0\nlog:\n  level: debug\n');
    const loaded = load({ FENCELINE_PORT: '1002', FENCELINE_HOST: '::1' }, { port: '1003' }, file);
    if (!loaded.ok) throw new Error(loaded.problems.join());
    expect(loaded.configuration).toMatchObject({ port: 1003, host: '::1', log: { level: 'debug' } });
    const source = (key: string) => loaded.settings.find(({ setting }) => setting.key === key)?.source;
    expect([source('port'), source('host'), source('log.level'), source('data')]).toEqual([
      '--port',
      'FENCELINE_HOST',
      file,
      'default',
    ]);
  });

  test('all problems are reported at once, each with its key and source', () => {
    const file = configFile('prot: 1\ningest:\n  replyTimeoutMs: soon\n');
    const loaded = load({ FENCELINE_PORT: '70000', FENCELINE_LOG_LEVEL: 'loud', FENCELINE_HOSTS: 'x' }, {}, file);
    expect(loaded.ok).toBe(false);
    const named = loaded.ok ? [] : loaded.problems.map((problem) => problem.split(/[ :]/)[0]);
    expect(named.sort()).toEqual(['FENCELINE_HOSTS', 'ingest.replyTimeoutMs', 'log.level', 'port', 'prot']);
  });

  test.each([
    ['FENCELINE_ADMINISTRATOR_KEY', 'FENCELINE_ADMIN_API_KEY'],
    ['FENCELINE_SEALING_KEY', 'FENCELINE_ENCRYPTION_KEY'],
    ['FENCELINE_EXPIRY_KEEP_DAYS', 'FENCELINE_EXPIRY_RETENTION_DAYS'],
    ['FENCELINE_WEBHOOKS_KEEP_WAITING_DAYS', 'FENCELINE_WEBHOOKS_DELIVERY_RETENTION_DAYS'],
  ])('the former variable %s is refused with its new name', (former, name) => {
    expect(load({ [former]: '1' })).toEqual({ ok: false, problems: [`${former}: was renamed: use ${name}`] });
    expect(load({ [name]: '1' }).ok).toBe(true);
  });

  test('former keys are refused with their new names', () => {
    const file = configFile('expiry:\n  keepDays: 1\nwebhooks:\n  keepWaitingDays: 1\n');
    expect(load({}, {}, file)).toEqual({
      ok: false,
      problems: [
        `expiry.keepDays (${file}): was renamed: use expiry.retentionDays`,
        `webhooks.keepWaitingDays (${file}): was renamed: use webhooks.deliveryRetentionDays`,
      ],
    });
  });

  test('a key that is a property of every object was called renamed', () => {
    const file = configFile('constructor: 1\n');
    expect(load({}, {}, file)).toEqual({
      ok: false,
      problems: [`constructor (${file}): is not a setting of Fenceline`],
    });
  });

  test('a misspelled name is refused with the nearest one', () => {
    const file = configFile('ingest:\n  replyTimeout: 1\n');
    const loaded = load({ FENCELINE_LOG_LEVL: 'info' }, {}, file);
    expect(loaded.ok ? [] : loaded.problems).toEqual([
      `ingest.replyTimeout (${file}): is not a setting of Fenceline; did you mean ingest.replyTimeoutMs?`,
      'FENCELINE_LOG_LEVL: is not an environment variable of Fenceline; did you mean FENCELINE_LOG_LEVEL?',
    ]);
  });

  test('lists are comma-separated in the environment', () => {
    const loaded = load({ FENCELINE_HTTP_TRUSTED_PROXIES: '10.0.0.0/8, 192.168.1.1' });
    expect(loaded.ok && loaded.configuration.http.trustedProxies).toEqual(['10.0.0.0/8', '192.168.1.1']);
  });

  test('the retry schedule is a list of seconds', () => {
    const schedule = (text: string) => load({ FENCELINE_WEBHOOKS_RETRY_SCHEDULE: text });
    const loaded = schedule('0.1, 60');
    expect(loaded.ok && loaded.configuration.webhooks.retrySchedule).toEqual(['0.1', '60']);
    const file = configFile('webhooks:\n  retrySchedule: [5, 300]\n');
    const fromFile = load({}, {}, file);
    expect(fromFile.ok && fromFile.configuration.webhooks.retrySchedule).toEqual(['5', '300']);
    for (const text of ['soon', '-1', '5,,x']) expect(schedule(text).ok).toBe(false);
  });

  // A misspelled proxy stopped the start with a stack, or had the limit of connections of an ordinary address.
  test('a proxy that is no network is refused with its setting', () => {
    const loaded = load({ FENCELINE_HTTP_TRUSTED_PROXIES: '10.0.0.0/8, 10.0.0.0/40' });
    expect(loaded.ok ? [] : loaded.problems).toEqual([
      'http.trustedProxies (FENCELINE_HTTP_TRUSTED_PROXIES): ' +
        'must be addresses or CIDR blocks such as 10.0.0.0/8; "10.0.0.0/40" is not one',
    ]);
  });

  test('networks are addresses and CIDR blocks', () => {
    const allowed = (text: string) => load({ FENCELINE_WEBHOOKS_ALLOWED_NETWORKS: text });
    const loaded = allowed('10.0.0.0/8, fd00::/8,127.0.0.1');
    expect(loaded.ok && loaded.configuration.webhooks.allowedNetworks).toEqual(['10.0.0.0/8', 'fd00::/8', '127.0.0.1']);
    const refused = allowed('10.0.0.0/8, 10.0.0.0/33');
    expect(refused.ok ? [] : refused.problems).toEqual([
      'webhooks.allowedNetworks (FENCELINE_WEBHOOKS_ALLOWED_NETWORKS): ' +
        'must be addresses or CIDR blocks such as 10.0.0.0/8; "10.0.0.0/33" is not one',
    ]);
    const file = configFile('webhooks:\n  allowedNetworks: [intranet]\n');
    expect(load({}, {}, file)).toMatchObject({
      ok: false,
      problems: [expect.stringMatching(/^webhooks.allowedNetworks .*"intranet"/)],
    });
  });

  test('the configuration file must exist and be valid YAML', () => {
    expect(load({}, {}, '/nonexistent/fenceline.yaml').ok).toBe(false);
    expect(load({}, {}, configFile('a: [1\n')).ok).toBe(false);
  });

  test('every setting is documented, and the loaded configuration is frozen', () => {
    for (const { schema } of settings) expect(schema.description.length).toBeGreaterThan(20);
    const loaded = load();
    if (!loaded.ok) throw new Error('defaults must load');
    expect(() => Object.assign(loaded.configuration.log, { level: 'trace' })).toThrow(TypeError);
    expect(describeSettings(loaded.settings, true)).toContain('FENCELINE_INGEST_REPLY_TIMEOUT_MS');
  });
});
