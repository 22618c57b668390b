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
  test('a file that is not there is named in words', () => {
    const problems = ['none.yaml: there is no such file or folder'];
    expect(load({}, {}, 'none.yaml')).toEqual({ ok: false, problems });
  });

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
    const valid = name === 'FENCELINE_ENCRYPTION_KEY' ? '1'.repeat(64) : '1';
    expect(load({ [name]: valid }).ok).toBe(true);
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

  const ofHeaders = 'must have characters of ASCII only, because a header carries it';
  // Most were found only by the first use, some by a stack, and those of the sync after the data folder was made.
  test.each([
    ['FENCELINE_TRACING_ENDPOINT', 'nonsense', 'tracing.endpoint', 'must be an http or https URL'],
    ['FENCELINE_HTTP_PUBLIC_URL', 'map.example.com', 'http.publicUrl', 'must be an http or https URL'],
    ['FENCELINE_GEOCODING_URL', 'ftp://a', 'geocoding.url', 'must be an http or https URL'],
    ['FENCELINE_REGISTRY_URL', 'registry:8081', 'registry.url', 'must be an http or https URL'],
    ['FENCELINE_SYNC_TIME', '24:00', 'sync.time', 'must be a time of the day as HH:mm'],
    ['FENCELINE_SYNC_TIME', '2:00', 'sync.time', 'must be a time of the day as HH:mm'],
    ['FENCELINE_SYNC_TIME_ZONE', 'Mars/Olympus', 'sync.timeZone', 'must be an IANA time zone, such as Europe/Berlin'],
    ['FENCELINE_SYNC_TIME_ZONE', '+02:00', 'sync.timeZone', 'must be an IANA time zone, such as Europe/Berlin'],
    ['FENCELINE_ROUTING_BOUNDS', '8,47,7,48', 'routing.bounds', 'must be west, south, east and north, in degrees'],
    [
      'FENCELINE_TRACING_AUTHORIZATION',
      'Bearer a\n',
      'tracing.authorization',
      'must have no line breaks and no other control characters',
    ],
    // All geocoding was answered "connection_failed", and all traces were lost.
    ['FENCELINE_GEOCODING_CONTACT', 'Łódź', 'geocoding.contact', ofHeaders],
    ['FENCELINE_TRACING_AUTHORIZATION', 'Łódź', 'tracing.authorization', ofHeaders],
    ['FENCELINE_ROUTING_API_KEY', 'Łódź', 'routing.apiKey', ofHeaders],
    ['FENCELINE_HOST', 'x'.repeat(4_097), 'host', 'must have at most 4096 characters'],
    [
      'FENCELINE_EVENTS_RETENTION_DAYS',
      '9007199254740991',
      'events.retentionDays',
      'must be a whole number, 1 to 36500',
    ],
  ])('%s=%s is refused', (variable, given, key, rule) => {
    expect(load({ [variable]: given })).toEqual({ ok: false, problems: [`${key} (${variable}): ${rule}`] });
  });

  test.each([
    ['FENCELINE_ADMIN_API_KEY', 'a b'],
    ['FENCELINE_ADMIN_API_KEY', 'key\n'],
    ['FENCELINE_ENCRYPTION_KEY', 'abc'],
  ])('the secret %s=%j is refused, and is not shown', (variable, given) => {
    const loaded = load({ [variable]: given });
    expect(loaded.ok ? [] : loaded.problems).toEqual([expect.stringMatching(`^${variable}: must be `)]);
    expect(JSON.stringify(loaded)).not.toContain(JSON.stringify(given));
  });

  test('every number has a maximum, and its default can be given as a variable', () => {
    for (const { key, variable, schema } of settings.filter(({ schema: { type } }) => type === 'integer')) {
      expect(load({ [variable]: '9007199254740991' }).ok, key).toBe(false);
      // The default of kafka.replicationFactor, -1, was refused.
      expect(load({ [variable]: String(schema.default) }).ok, key).toBe(true);
    }
  });

  test('every default can be given in the file', () => {
    for (const { key, schema } of settings) {
      const file = configFile(JSON.stringify({ [key]: schema.default }));
      expect(load({}, {}, file), key).toMatchObject({ ok: true });
    }
  });

  test('the configuration file must exist and be valid YAML', () => {
    expect(load({}, {}, '/nonexistent/fenceline.yaml').ok).toBe(false);
    expect(load({}, {}, configFile('a: [1\n')).ok).toBe(false);
  });

  const ofHttp = 'is a section: its settings follow in indented lines, such as http.trustedProxies';
  // Most named no setting, or printed several lines.
  test.each([
    ['- port\n', 'FILE: must be YAML with one setting per line, such as "port: 8080"'],
    ['8080', 'FILE: must be YAML with one setting per line, such as "port: 8080"'],
    ['\u0000\u0001', 'FILE: must be YAML with one setting per line, such as "port: 8080"'],
    ['port: 1\nport: 2\n', 'port (FILE, line 2): is given twice'],
    ['http:\n  publicUrl: a\n  publicUrl: b\n', 'publicUrl (FILE, line 3): is given twice'],
    ['http:\n\tpublicUrl: a\n', 'FILE: Tabs are not allowed as indentation at line 2, column 1'],
    ['port: 1\n---\nhost: a\n', 'FILE: must be one YAML document, without a line --- between settings'],
    ['host: !include host.yaml\n', 'FILE: Unresolved tag: !include at line 1, column 7'],
    ['host: *other\n', 'FILE: Unresolved alias (the anchor must be set before the alias): other'],
    // They were called no settings of Fenceline.
    ['http: 5\n', `http (FILE): ${ofHttp}`],
    ['http: [publicUrl]\n', `http (FILE): ${ofHttp}`],
    ['http: true\nport: 70000\n', `http (FILE): ${ofHttp}`, 'port (FILE): must be a whole number, 0 to 65535'],
    ['port:\n  number: 8080\n', 'port (FILE): must be a whole number, 0 to 65535'],
    ['host:\n  name: a\n', 'host (FILE): must be a text'],
    ['host: 127\n', 'host (FILE): must be a text; put it in quotation marks'],
    // Were accepted: nothing was read of them.
    ['htpp: {}\n', 'htpp (FILE): is not a setting of Fenceline; did you mean http?'],
    ['htpp:\n  publicUrl: a\n', 'htpp (FILE): is not a setting of Fenceline; did you mean http?'],
    // Ended with a stack.
    ['http: &all\n  http: *all\n', 'http.http (FILE): is not a setting of Fenceline'],
    ['locations.partitions: 3\nlocations:\n  partitions: 5\n', 'locations.partitions (FILE): is given twice'],
  ])('the configuration file %j is refused', (text, ...problems) => {
    const file = configFile(text);
    expect(load({}, {}, file)).toEqual({ ok: false, problems: problems.map((each) => each.replace('FILE', file)) });
  });

  test('a section of the configuration file may be empty', () => {
    expect(load({}, {}, configFile('locations:\n  # partitions: 8\n')).ok).toBe(true);
  });

  test('every setting is documented, and the loaded configuration is frozen', () => {
    for (const { schema } of settings) expect(schema.description.length).toBeGreaterThan(20);
    const loaded = load();
    if (!loaded.ok) throw new Error('defaults must load');
    expect(() => Object.assign(loaded.configuration.log, { level: 'trace' })).toThrow(TypeError);
    expect(describeSettings(loaded.settings, true)).toContain('FENCELINE_INGEST_REPLY_TIMEOUT_MS');
  });

  test.each([
    ['https://tiles.example.com/streets.json?key=secret', 'https://tiles.example.com/streets.json?…'],
    [
      'https://me:secret@tiles.example.com/{z}/{x}/{-y}.pbf?key=secret',
      'https://…@tiles.example.com/{z}/{x}/{-y}.pbf?…',
    ],
    ['HTTPS://me:sec@ret@tiles.example.com', 'HTTPS://…@tiles.example.com'],
    ['https://tiles.example.com/@me/world.pmtiles', 'https://tiles.example.com/@me/world.pmtiles'],
    ['maps/what?.pmtiles', 'maps/what?.pmtiles'],
  ])('`fenceline config` showed the key of a tile server in %s', (archive, shown) => {
    const loaded = load({ FENCELINE_MAPS_ARCHIVE: archive });
    if (!loaded.ok) throw new Error('the archive must load');
    const [line] = describeSettings(loaded.settings, false)
      .split('\n')
      .filter((each) => each.startsWith('maps.archive '));
    expect(line?.split(/\s+/).slice(1, 2)).toEqual([shown]);
  });
});
