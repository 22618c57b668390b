import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loadConfiguration } from './config/load.js';
import { mailerOptions } from './mail.js';

function optionsWith(environment: Record<string, string>) {
  const loaded = loadConfiguration({ flags: {}, environment });
  if (!loaded.ok) throw new Error(loaded.problems.join());
  return mailerOptions(loaded.configuration);
}

function validOptionsWith(environment: Record<string, string>) {
  const given = optionsWith(environment);
  if (!given.ok) throw new Error(given.problems.join());
  return given.options;
}

test('mails go to the outbox of the data folder by default', () => {
  const { transport } = validOptionsWith({ FENCELINE_DATA: '/data' });
  expect(transport).toEqual({ outbox: { folder: '/data/outbox', maxMails: 1_000 } });
});

test('the password comes from a file without its line break', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'fenceline-mail-')), 'password');
  writeFileSync(file, 'secret\n');
  const { sender, transport } = validOptionsWith({
    FENCELINE_MAIL_HOST: 'smtp.example.com',
    FENCELINE_MAIL_SENDER: 'map@example.com',
    FENCELINE_MAIL_USERNAME: 'map',
    FENCELINE_MAIL_PASSWORD_FILE: file,
  });
  expect(sender).toBe('map@example.com');
  expect(transport).toMatchObject({
    smtp: { host: 'smtp.example.com', port: 587, tls: 'starttls', login: { username: 'map', password: 'secret' } },
  });
});

test('all contradictions are refused at once, each with its key', () => {
  const contradicting = {
    FENCELINE_MAIL_HOST: 'smtp.example.com',
    FENCELINE_MAIL_USERNAME: 'map',
    FENCELINE_MAIL_TLS: 'off',
    FENCELINE_MAIL_CA_FILE: '/does/not/exist',
  };
  const problemsWith = (environment: Record<string, string>) => {
    const given = optionsWith(environment);
    return given.ok ? [] : given.problems;
  };
  const keys = ['mail.sender', 'mail.username', 'mail.tls', 'mail.caFile'];
  expect(problemsWith(contradicting).map((problem) => problem.split(':')[0])).toEqual(expect.arrayContaining(keys));
  const one = 'mail.sender: must be one mail address, such as name@example.com, in ASCII';
  expect(problemsWith({ FENCELINE_MAIL_SENDER: 'a@b, c@d' })).toEqual([one]);
  // Any file was taken, and every mail failed later.
  const ca = fileURLToPath(new URL('../package.json', import.meta.url));
  expect(problemsWith({ FENCELINE_MAIL_CA_FILE: ca })).toEqual([`mail.caFile: ${ca} is not a PEM file`]);
  const none = { FENCELINE_MAIL_PASSWORD_FILE: 'none' };
  expect(problemsWith(none)).toEqual(["mail.passwordFile: none can't be read: there is no such file or folder"]);
  const twice = { FENCELINE_MAIL_PASSWORD: 'a', FENCELINE_MAIL_PASSWORD_FILE: '/does/not/exist' };
  expect(problemsWith(twice)).toEqual(['mail.passwordFile: must be empty if mail.password is set']);
});
