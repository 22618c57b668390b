/**
 * docs/cluster.md works as written: its configuration is accepted, its command generates the secrets, and its
 * names exist.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { clusterOptions } from '../../server/cluster-options.js';
import { loadConfiguration } from '../../server/config/load.js';
import { settings } from '../../server/config/settings.js';
import { interpolations, nodes, readRepositoryFile, repositoryFile } from '../deploy/compose.js';

const guide = readRepositoryFile('docs/cluster.md');
const blockOf = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? '';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-cluster-guide-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('generates every secret that Compose requires, each different', () => {
  copyFileSync(repositoryFile('.env.example'), join(folder, '.env.example'));
  const [loop = ''] = blockOf('sh').split(/^docker/m);
  execFileSync('bash', ['-e', '-c', loop], { cwd: folder });
  const text = readFileSync(join(folder, '.env'), 'utf8');
  const values = new Map([...text.matchAll(/^(\w+)=([0-9a-f]{64})$/gm)].map(([, name, value]) => [name, value]));
  const demanded = interpolations.filter(({ rest }) => rest.startsWith(':?')).map(({ name }) => name);
  expect([...values.keys()].toSorted()).toEqual([...new Set(demanded)].toSorted());
  expect(new Set(values.values()).size).toBe(values.size);
  expect(text.replaceAll(/=[0-9a-f]{64}$/gm, '=')).toBe(readRepositoryFile('.env.example'));
});

it('runs commands of the image in services that exist', () => {
  const [, service, program] = /docker compose exec (\w+) node (\S+) /.exec(guide)!;
  expect(nodes.map(([name]) => name)).toContain(service);
  expect(readRepositoryFile('Dockerfile')).toContain(`ENTRYPOINT ["node", "${program}"]`);
});

it('has a configuration that the program accepts, with passwords from the environment', () => {
  const certificate = join(folder, 'ca.pem');
  writeFileSync(certificate, '-----BEGIN CERTIFICATE-----\n');
  const file = join(folder, 'fenceline.yaml');
  writeFileSync(file, blockOf('yaml').replaceAll('/etc/fenceline/ca.pem', certificate));
  const [, listed = ''] = /Passwords belong in the environment: ([^.]*)\./.exec(guide) ?? [];
  const passwords = [...listed.matchAll(/`(\w+)`/g)].map(([, name]) => [name as string, 'secret']);
  expect(passwords).toHaveLength(4);
  const loaded = loadConfiguration({ flags: {}, environment: Object.fromEntries(passwords), file });
  expect(loaded).toMatchObject({ ok: true });
  expect(loaded.ok && clusterOptions(loaded.configuration)).toMatchObject({ ok: true });
});

it('names only settings that exist', () => {
  const sections = new Set(settings.map(({ key }) => key.split('.')[0]));
  const named = [...guide.matchAll(/`(\w+\.[a-z]\w*)`/g)].map(([, key]) => key as string);
  const ofSettings = named.filter((key) => sections.has(key.split('.')[0]));
  expect(ofSettings.length).toBeGreaterThan(20);
  expect(ofSettings.filter((key) => !settings.some((setting) => setting.key === key))).toEqual([]);
});
