import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterEach, describe, expect, test } from 'vitest';
import { certificate, certificateKey } from '../testing/certificate.js';
import type { Mailer } from './mail.js';
import { createMailer } from './mailer.js';
import type { SmtpOptions } from './smtp-attempt.js';
import { type Refusal, startSmtpServer } from './testing/smtp-server.js';

const sender = 'fenceline@example.com';
const mail = { to: 'ada@example.com', subject: 'Grüße, 世界', text: 'Line one\nLine two: é\n.\nafter a dot\n' };

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function smtpMailer(port: number, options: Partial<SmtpOptions> = {}): Mailer {
  const smtp: SmtpOptions = {
    host: '127.0.0.1',
    port,
    tls: 'off',
    timeoutMs: 30_000,
    retryDelaysMs: [1, 1],
    maxConnections: 2,
    maxWaiting: 10,
    ...options,
  };
  const mailer = createMailer({ sender, transport: { smtp } });
  ends.push(() => mailer.close());
  return mailer;
}

async function smtpServer(options: Parameters<typeof startSmtpServer>[0] = {}, refusal?: Refusal) {
  const server = await startSmtpServer(options, refusal);
  ends.push(() => server.close());
  return server;
}

/** Listens on loopback and hands each connection to `answer`. */
async function rawServer(answer: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    answer(socket);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  ends.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((end) => server.close(end));
  });
  return (server.address() as { port: number }).port;
}

describe('over SMTP', () => {
  test('an independent parser reads subject, text and addresses as they were given', async () => {
    const server = await smtpServer();
    expect(await smtpMailer(server.port).send(mail)).toEqual({ kind: 'sent' });
    const [received] = server.received;
    expect(received).toMatchObject({ from: sender, to: [mail.to] });
    expect(received?.parsed).toMatchObject({
      subject: mail.subject,
      text: mail.text,
      from: { address: sender, name: 'Fenceline' },
      to: [{ address: mail.to }],
    });
    expect(received?.raw).toMatch(/^Auto-Submitted: auto-generated\r?$/m);
  });

  test('a list of addresses or a line break in the address sends nothing', async () => {
    const server = await smtpServer();
    const mailer = smtpMailer(server.port);
    for (const to of ['a@example.com,b@example.com', 'a@example.com\r\nBcc: eve@example.com', 'Ada <a@example.com>']) {
      expect(await mailer.send({ ...mail, to })).toMatchObject({ kind: 'failed', failure: 'address_refused' });
    }
    expect(server.received).toEqual([]);
  });

  test('a line break in the subject adds no header and no recipient', async () => {
    const server = await smtpServer();
    await smtpMailer(server.port).send({ ...mail, subject: 'Hello\r\nBcc: eve@example.com\r\n\r\nbody' });
    expect(server.received[0]?.to).toEqual([mail.to]);
    expect(server.received[0]?.parsed.bcc).toBeUndefined();
    expect(server.received[0]?.parsed.subject).toBe('Hello Bcc: eve@example.com  body');
  });

  test('text beyond the limit is refused', async () => {
    const result = await smtpMailer(1).send({ ...mail, text: 'a'.repeat(100_001) });
    expect(result).toMatchObject({ kind: 'failed', failure: 'message_refused' });
  });

  test('a temporary refusal is tried again with the same Message-ID', async () => {
    const attempts: string[] = [];
    const server = await smtpServer({}, (index, raw) => {
      attempts.push(raw);
      return index < 2 ? { code: 451, text: 'later' } : undefined;
    });
    expect(await smtpMailer(server.port).send(mail)).toEqual({ kind: 'sent' });
    expect(server.received).toHaveLength(1);
    expect(attempts).toEqual([attempts[0], attempts[0], attempts[0]]);
    expect(attempts[0]).toMatch(/^Message-ID: <.+>/im);
  });

  test('a temporary refusal of every attempt fails with the words of the server', async () => {
    let attempts = 0;
    const server = await smtpServer({}, () => {
      attempts++;
      return { code: 451, text: 'try later' };
    });
    const result = await smtpMailer(server.port).send(mail);
    expect(result).toMatchObject({ kind: 'failed', message: expect.stringContaining('try later') });
    expect(attempts).toBe(3);
  });

  test('a permanent refusal is not tried again', async () => {
    let attempts = 0;
    const server = await smtpServer({}, () => {
      attempts++;
      return { code: 550, text: 'no such user' };
    });
    expect(await smtpMailer(server.port).send(mail)).toMatchObject({ kind: 'failed', failure: 'message_refused' });
    expect(attempts).toBe(1);
  });

  test('a port without a server fails as unreachable', async () => {
    const port = await rawServer(() => {});
    for (const end of ends.splice(0)) await end();
    expect(await smtpMailer(port).send(mail)).toMatchObject({ kind: 'failed', failure: 'unreachable' });
  });

  test('a server that never greets, or trickles, fails at the time limit', async () => {
    const silent = await rawServer(() => {});
    const trickling = await rawServer((socket) => {
      const timer = setInterval(() => socket.write('2'), 5);
      socket.on('close', () => clearInterval(timer));
    });
    for (const port of [silent, trickling]) {
      const result = await smtpMailer(port, { timeoutMs: 100, retryDelaysMs: [] }).send(mail);
      expect(result).toMatchObject({ kind: 'failed', failure: 'timed_out' });
    }
  });

  test('close ends an open attempt and its retries', async () => {
    let connected = () => {};
    const connection = new Promise<void>((resolve) => {
      connected = resolve;
    });
    const mailer = smtpMailer(await rawServer(() => connected()), { retryDelaysMs: [3_600_000] });
    const result = mailer.send(mail);
    await connection;
    await mailer.close();
    expect(await result).toEqual({ kind: 'failed', failure: 'unreachable', message: 'the mailer is closed' });
  });

  test.each([
    ['a line without end', 'x'],
    ['an answer without end', '220-and so on\r\n'],
  ])('a server that sends %s is left, long before the memory is full', async (_, text) => {
    const piece = Buffer.from(text.repeat(65_536 / text.length));
    let sentBytes = 0;
    const port = await rawServer((socket) => {
      const send = (): void => {
        while (socket.writable) {
          sentBytes += piece.length;
          if (!socket.write(piece)) return;
        }
      };
      socket.on('drain', send);
      send();
    });
    const result = await smtpMailer(port, { retryDelaysMs: [] }).send(mail);
    expect(result).toMatchObject({ kind: 'failed', message: expect.stringContaining('exceeds maximum allowed size') });
    // One MiB, and what the buffers of both sockets hold.
    expect(sentBytes).toBeLessThan(32 * 2 ** 20);
  });

  test('mails beyond the number that may wait fail as overloaded', async () => {
    const mailer = smtpMailer(await rawServer(() => {}), { maxConnections: 1, maxWaiting: 1 });
    const first = [mailer.send(mail), mailer.send(mail), mailer.send(mail)];
    expect(await Promise.race(first)).toMatchObject({ kind: 'failed', failure: 'overloaded' });
    await mailer.close();
    await Promise.all(first);
  });

  test('at most maxConnections mails are sent at a time, and all arrive', async () => {
    let open = 0;
    let most = 0;
    let arrived = 0;
    const server = await smtpServer({
      async onData(stream, _, done) {
        most = Math.max(most, ++open);
        for await (const __ of stream);
        open--;
        arrived++;
        done();
      },
    });
    const mailer = smtpMailer(server.port, { maxWaiting: 20 });
    const results = await Promise.all(Array.from({ length: 8 }, () => mailer.send(mail)));
    expect(results.every(({ kind }) => kind === 'sent')).toBe(true);
    expect(arrived).toBe(8);
    expect(most).toBeLessThanOrEqual(2);
  });
});

describe('encryption and login', () => {
  const secure = { key: certificateKey, cert: certificate, disabledCommands: [], authOptional: false };
  const login = { username: 'ada', password: 'correct' };
  const trusting = { ca: certificate, serverName: 'receiver.test' };
  const onAuth: NonNullable<Parameters<typeof startSmtpServer>[0]>['onAuth'] = ({ username, password }, _, done) =>
    username === 'ada' && password === 'correct' ? done(null, { user: 'ada' }) : done(new Error('wrong password'));

  test.each([
    ['starttls', false],
    ['on', true],
  ] as const)('%s verifies the certificate, then logs in', async (tls, isSecure) => {
    const server = await smtpServer({ ...secure, secure: isSecure, onAuth });
    expect(await smtpMailer(server.port, { tls, login, ...trusting }).send(mail)).toEqual({ kind: 'sent' });
    const distrusting = smtpMailer(server.port, { tls, login, retryDelaysMs: [] });
    expect((await distrusting.send(mail)).kind).toBe('failed');
    const otherName = smtpMailer(server.port, { tls, login, ...trusting, serverName: 'other.test', retryDelaysMs: [] });
    expect((await otherName.send(mail)).kind).toBe('failed');
    expect(server.received).toHaveLength(1);
  });

  test('starttls refuses a server that does not offer it', async () => {
    const server = await smtpServer();
    expect((await smtpMailer(server.port, { tls: 'starttls', retryDelaysMs: [] }).send(mail)).kind).toBe('failed');
    expect(server.received).toEqual([]);
  });

  test('a wrong password fails once, and its message does not hold the password', async () => {
    let logins = 0;
    const server = await smtpServer({
      ...secure,
      onAuth(auth, session, done) {
        logins++;
        onAuth(auth, session, done);
      },
    });
    const wrong = { username: 'ada', password: 'guessed-password' };
    const result = await smtpMailer(server.port, { tls: 'starttls', login: wrong, ...trusting }).send(mail);
    expect(result).toMatchObject({ kind: 'failed', failure: 'login_failed' });
    expect(JSON.stringify(result)).not.toContain('guessed-password');
    expect(logins).toBe(1);
  });
});

describe('without SMTP', () => {
  const newFolder = () => join(mkdtempSync(join(tmpdir(), 'fenceline-outbox-')), 'outbox');
  function outboxMailer(folder: string, maxMails = 10): Mailer {
    let now = Date.UTC(2026, 0, 1);
    return createMailer({ sender, transport: { outbox: { folder, maxMails } }, clock: () => ++now });
  }

  test('each mail is a file that only its owner can read, and that a mail program reads', async () => {
    const folder = newFolder();
    const result = await outboxMailer(folder).send(mail);
    if (result.kind !== 'written') throw new Error(result.kind);
    expect(readdirSync(folder).map((name) => join(folder, name))).toEqual([result.file]);
    expect(statSync(result.file).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const { subject, text, to } = await PostalMime.parse(readFileSync(result.file));
    expect({ subject, text, to: to?.map(({ address }) => address) }).toEqual({ ...mail, to: [mail.to] });
  });

  test('a long link in ASCII is in one piece', async () => {
    const link = `https://map.example.com/account#reset=${'0'.repeat(64)}`;
    const result = await outboxMailer(newFolder()).send({ ...mail, text: `Open\n\n${link}\n` });
    if (result.kind !== 'written') throw new Error(result.kind);
    expect(readFileSync(result.file, 'utf8').split('\r\n')).toContain(link);
  });

  test('the newest mails stay, also of concurrent ones', async () => {
    const folder = newFolder();
    const mailer = outboxMailer(folder, 3);
    const results = await Promise.all(Array.from({ length: 7 }, () => mailer.send(mail)));
    const files = results.map((result) => (result.kind === 'written' ? result.file : ''));
    expect(readdirSync(folder).sort()).toEqual(files.slice(-3).map((file) => file.slice(folder.length + 1)));
  });

  // They stayed until somebody deleted them, with one-time tokens in them.
  test('mails that a killed process left half written are deleted in their turn', async () => {
    const folder = newFolder();
    const mailer = outboxMailer(folder, 2);
    await mailer.send(mail);
    const half = '2025-12-31T00-00-00-000Z-00000000.eml.writing';
    writeFileSync(join(folder, half), 'half');
    await mailer.send(mail);
    expect(readdirSync(folder)).not.toContain(half);
    expect(readdirSync(folder)).toHaveLength(2);
  });

  test('a folder that cannot be written fails with its name', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'fenceline-outbox-')), 'file');
    writeFileSync(file, '');
    const result = await outboxMailer(file).send(mail);
    expect(result).toMatchObject({ kind: 'failed', failure: 'not_written', message: expect.stringContaining(file) });
  });

  // Node tried forever to create it, so every mail and the end of the process waited.
  test('a folder that the system does not create fails', async () => {
    const result = await outboxMailer('/proc/fenceline/outbox').send(mail);
    expect(result).toMatchObject({
      kind: 'failed',
      failure: 'not_written',
      message: expect.stringContaining('ENOENT'),
    });
  });
});
