/** What docs/addresses.md and docs/places.md show, against a server: the calls, the file and the settings. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfiguration } from '../../server/config/load.js';
import type { Json } from '../support/client.js';
import { program } from '../support/program.js';
import { SharedServer } from '../support/shared-server.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-places-guide-'));
afterAll(() => rmSync(folder, { recursive: true }));
const guideOf = (name: string): string => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
const blocksOf = (guide: string, language: string): string[] =>
  [...guide.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text]) => text as string);

let server: SharedServer;
beforeAll(async () => {
  server = await SharedServer.newProject();
});

/** Runs the commands of a block one after the other. Returns what each prints. */
function run(block: string): string[] {
  const { test_secret: SK, test_publishable: PK } = server.keys;
  const env = { ...process.env, SK, PK, FENCELINE: server.address, FENCELINE_ADDRESS: server.address };
  const commands = block
    .replaceAll('npm run fenceline --', `"${process.execPath}" "${program}"`)
    .replaceAll('curl', 'curl -s')
    .replaceAll('\\\n', ' ')
    .trim();
  return commands
    .split('\n')
    .map((line) => execFileSync('bash', ['-e', '-c', line], { cwd: folder, env, encoding: 'utf8' }));
}
const json = (text: string | undefined): Json => JSON.parse(text ?? '');

describe('docs/addresses.md', () => {
  const guide = guideOf('addresses');

  it('has calls that find Paris in Texas', () => {
    const [created, forward, reverse, completed] = run(blocksOf(guide, 'sh')[0]!).map(json);
    expect(created.geofence).toMatchObject({ address: 'Paris, TX', geometryRadius: 5_000 });
    expect(created.geofence.geometrySource.address.formattedAddress).toBe('Paris, TX, United States');
    expect(forward.addresses[0]).toMatchObject({ city: 'Paris', stateCode: 'TX' });
    expect(reverse.addresses[0]).toMatchObject({ city: 'Paris', stateCode: 'TX' });
    expect(completed.addresses[0]).toMatchObject({ countryCode: 'US' });
  });

  it('has settings that are accepted', () => {
    const blocks = blocksOf(guide, 'yaml');
    expect(blocks).not.toEqual([]);
    for (const [index, text] of blocks.entries()) {
      const file = join(folder, `${index}.yaml`);
      writeFileSync(file, text);
      expect(loadConfiguration({ flags: {}, environment: {}, file })).toMatchObject({ ok: true });
    }
  });
});

describe('docs/places.md', () => {
  const guide = guideOf('places');

  it('has a catalogue that is imported once, read, followed and searched', () => {
    writeFileSync(join(folder, 'places.geojson'), blocksOf(guide, 'json')[0]!);
    const block = blocksOf(guide, 'sh')[0]!;
    const [imported, place, geofence, found] = run(block);
    expect(imported).toBe('2 created, 0 updated, 0 unchanged\n');
    expect(json(place).place).toMatchObject({ _id: 'kiosk-1', categories: ['shop', 'food'] });
    expect(json(geofence).geofence).toMatchObject({ type: 'polygon', placeId: 'mall-1' });
    expect(json(found).places).toMatchObject([{ _id: 'kiosk-1', chain: { slug: 'acme' } }]);
    expect(run(block)[0]).toBe('Nothing changed: 0 created, 0 updated, 2 unchanged\n');
  });

  it('says that bad places are reported by line, and the others are loaded', () => {
    const lines = [
      { _id: 'good', name: 'Good', geometry: { type: 'Point', coordinates: [1, 1] } },
      { _id: 'bad', name: 'Bad', geometry: { type: 'Point', coordinates: [1, 91] } },
      { _id: 'odd', name: 'Odd', colour: 'red' },
    ];
    writeFileSync(join(folder, 'places.ndjson'), lines.map((line) => JSON.stringify(line)).join('\n'));
    const [output = ''] = run('npm run fenceline -- places import places.ndjson --key "$SK" 2>&1 || echo "status $?"');
    expect(output).toMatch(/^2: geometry: .*91|^2: geometry: latitude/m);
    expect(output).toMatch(/^3: colour: is not a known field/m);
    expect(output).toContain('1 created, 0 updated, 0 unchanged');
    expect(output).toContain('2 places were refused');
    expect(output).toContain('status 1');
  });
});
