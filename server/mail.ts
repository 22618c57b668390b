/** Makes the mailer that the configuration describes. Refuses contradictions, all at once, each with its key. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkMailAddress } from '../outbound/mail/address.js';
import type { Mailer } from '../outbound/mail/mail.js';
import { createMailer, type MailerOptions } from '../outbound/mail/mailer.js';
import { fileProblem } from '../schemas/file-problem.js';
import type { Configuration } from './config/schema.js';
import { ConfigurationError } from './failures.js';
import { readPemFile } from './pem-file.js';

const retryDelaysMs = [2_000, 10_000];
const maxConnections = 4;
const maxWaiting = 1_000;
const senderOfOutbox = 'fenceline@localhost';

type MailerOptionsResult =
  | { readonly ok: true; readonly options: MailerOptions }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Returns the options, or all problems. Reads the files that the settings name. */
export function mailerOptions({ mail, data }: Configuration): MailerOptionsResult {
  const problems: string[] = [];
  const report = (key: string, rule: string): void => {
    problems.push(`mail.${key}: ${rule}`);
  };
  function passwordOfFile(): string {
    try {
      return mail.passwordFile && readFileSync(mail.passwordFile, 'utf8').trim();
    } catch (error) {
      report('passwordFile', `${mail.passwordFile} can't be read: ${fileProblem(error)}`);
      return '';
    }
  }
  function authorities(): string {
    const read = mail.caFile === '' ? undefined : readPemFile(mail.caFile);
    if (read === undefined || read.ok) return read?.text ?? '';
    report('caFile', read.rule);
    return '';
  }
  const sender = checkMailAddress('sender', mail.sender || senderOfOutbox);
  if (!sender.ok) report('sender', sender.problem.rule);
  const from = sender.ok ? sender.value : senderOfOutbox;
  const password = mail.password || passwordOfFile();
  const ca = authorities();

  if (mail.password && mail.passwordFile) report('passwordFile', 'must be empty if mail.password is set');
  if (mail.host && !mail.sender) report('sender', 'must be set if mail.host is');
  if (mail.username && !password) report('username', 'requires mail.password or mail.passwordFile');
  if (mail.username && mail.tls === 'off')
    report('tls', 'off sends the password in clear: mail.username requires starttls or on');
  if (problems.length > 0) return { ok: false, problems };

  if (!mail.host) {
    const folder = mail.outbox || join(data, 'outbox');
    const outbox = { folder, maxMails: mail.outboxMaxMails };
    return { ok: true, options: { sender: from, transport: { outbox } } };
  }
  const { host, port, tls, timeoutMs } = mail;
  const smtp = {
    host,
    port,
    tls,
    timeoutMs,
    retryDelaysMs,
    maxConnections,
    maxWaiting,
    ...(mail.username && { login: { username: mail.username, password } }),
    ...(ca && { ca }),
  };
  return { ok: true, options: { sender: from, transport: { smtp } } };
}

/** Creates the mailer, which the caller closes. Throws a ConfigurationError that lists every problem. */
export function createConfiguredMailer(configuration: Configuration): Mailer {
  const given = mailerOptions(configuration);
  if (!given.ok) throw new ConfigurationError(given.problems);
  return createMailer(given.options);
}
