import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadConfiguration } from './config/load.js';
import { unusableFiles } from './named-files.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-named-files-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = (name: string): string => join(folder, name);
writeFileSync(path('file'), '');
mkdirSync(path('folder'));

function problems(environment: Readonly<Record<string, string>>): string[] {
  const loaded = loadConfiguration({ flags: {}, environment });
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  return unusableFiles(loaded.configuration).map(({ setting, problem }) => `${setting}: ${problem}`);
}

test('files that are there, folders that can be created, URLs and defaults are fine', () => {
  expect(problems({})).toEqual([]);
  const urls = { FENCELINE_MAPS_ARCHIVE: 'https://maps.example.com/world.pmtiles' };
  const paths = { FENCELINE_GEOCODING_IP_DATABASE: path('file'), FENCELINE_MAIL_OUTBOX: path('folder/new/outbox') };
  expect(problems({ ...urls, ...paths })).toEqual([]);
  expect(problems({ FENCELINE_MAPS_ARCHIVE: path('file'), FENCELINE_MAIL_OUTBOX: path('folder') })).toEqual([]);
});

const wrong = {
  FENCELINE_MAPS_ARCHIVE: path('no.pmtiles'),
  FENCELINE_GEOCODING_IP_DATABASE: path('folder'),
  FENCELINE_MAIL_OUTBOX: path('file/outbox'),
};
const reason = `${path('file')} is a file, not a folder`;
const ofMail = `mail.outbox: ${path('file/outbox')} can't be used: ${reason}: mails are lost`;

test('each file that cannot be used is reported with its setting, the reason and the consequence', () => {
  expect(problems(wrong)).toEqual([
    `maps.archive: ${path('no.pmtiles')} can't be read: there is no such file or folder: maps fail`,
    `geocoding.ipDatabase: ${path('folder')} can't be read: it is no file: GET /v1/geocode/ip fails`,
    ofMail,
  ]);
});

test('a process of a cluster reports only what its roles use', () => {
  expect(problems({ ...wrong, FENCELINE_BACKEND: 'cluster', FENCELINE_ROLES: 'webhooks' })).toEqual([ofMail]);
});

test('a server that sends mails needs no outbox', () => {
  const smtp = { FENCELINE_MAIL_HOST: 'smtp.example.com', FENCELINE_MAIL_SENDER: 'fenceline@example.com' };
  expect(problems({ ...smtp, FENCELINE_MAIL_OUTBOX: path('file/outbox') })).toEqual([]);
});
