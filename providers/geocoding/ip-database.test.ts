import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createIpGeocoder } from './ip-database.js';
import { londonEntry, mmdbFile } from './testing/mmdb.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-ip-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

function fileOf(bytes: Buffer): string {
  const path = join(folder, `${files++}.mmdb`);
  writeFileSync(path, bytes);
  return path;
}

const city = mmdbFile({ '81.2.69.0/24': londonEntry, '10.1.0.0/16': { country: { iso_code: 'FR' } } });

test('an address of a known network has its place', async () => {
  const { locate } = createIpGeocoder(fileOf(city));
  expect(await locate('81.2.69.160')).toEqual({
    ok: true,
    value: {
      position: [-0.0931, 51.5142],
      accuracyM: 10_000,
      city: 'London',
      state: 'England',
      stateCode: 'ENG',
      postalCode: 'EC2V',
      country: 'United Kingdom',
      countryCode: 'GB',
    },
  });
});

test.each([
  ['of no network', '81.2.70.1'],
  ['of a network without a position', '10.1.2.3'],
  ['of IPv6, which the file does not have', '2001:db8::1'],
  ['that is not an address', 'localhost'],
])('an address %s has none', async (_, ip) => {
  expect(await createIpGeocoder(fileOf(city)).locate(ip)).toEqual({ ok: true, value: null });
});

test('a file that is missing or broken is reported, and read once it is there', async () => {
  const path = join(folder, 'later.mmdb');
  const { locate } = createIpGeocoder(path);
  expect(await locate('81.2.69.160')).toMatchObject({ ok: false, error: { code: 'unavailable' } });
  writeFileSync(path, 'this is not a database');
  expect(await locate('81.2.69.160')).toMatchObject({ ok: false, error: { code: 'unavailable' } });
  writeFileSync(path, city);
  expect(await locate('81.2.69.160')).toMatchObject({ ok: true, value: { city: 'London' } });
});

test('a replaced file is noticed within a minute', async () => {
  const path = fileOf(city);
  let nowMs = 0;
  const { locate } = createIpGeocoder(path, () => nowMs);
  expect(await locate('81.2.69.160')).toMatchObject({ value: { city: 'London' } });
  writeFileSync(path, mmdbFile({ '81.2.0.0/16': { ...londonEntry, city: { names: { en: 'Londinium' } } } }));
  nowMs = 59_000;
  expect(await locate('81.2.69.160')).toMatchObject({ value: { city: 'London' } });
  nowMs = 61_000;
  expect(await locate('81.2.69.160')).toMatchObject({ value: { city: 'Londinium' } });
});

// An update that deleted or half wrote the file made every call unavailable, with the former file still in memory.
test('regression: the former file counts while it is being replaced', async () => {
  const path = fileOf(city);
  let nowMs = 0;
  const { locate } = createIpGeocoder(path, () => nowMs);
  const isLondon = { ok: true, value: { city: 'London' } };
  expect(await locate('81.2.69.160')).toMatchObject(isLondon);
  for (const broken of [() => rmSync(path), () => writeFileSync(path, city.subarray(0, 100))]) {
    broken();
    nowMs += 60_000;
    expect(await locate('81.2.69.160')).toMatchObject(isLondon);
  }
  writeFileSync(path, mmdbFile({ '81.2.0.0/16': { ...londonEntry, city: { names: { en: 'Londinium' } } } }));
  nowMs += 60_000;
  expect(await locate('81.2.69.160')).toMatchObject({ value: { city: 'Londinium' } });
});
