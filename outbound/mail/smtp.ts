/**
 * Sends composed mails to an SMTP server: bounded in time, in concurrency and in number, and retried when the failure
 * may pass. The operator chose the server, so its address may be private.
 */
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import SmtpConnection from 'nodemailer/lib/smtp-connection';
import { type ComposedMail, failedMail, type MailFailure, type MailResult, type MailTransport } from './mail.js';

export interface SmtpOptions {
  readonly host: string;
  readonly port: number;
  /**
   * `starttls` upgrades the connection, `on` encrypts it from its start. Both refuse a server that does not encrypt or
   * whose certificate is not valid. `off` sends in clear.
   */
  readonly tls: 'starttls' | 'on' | 'off';
  readonly login?: { readonly username: string; readonly password: string };
  /** Certificates (PEM) to trust instead of the well-known authorities. */
  readonly ca?: string;
  /** The name that the certificate must have; default: `host`. */
  readonly serverName?: string;
  /** Time limit of an attempt, from resolving the name to the server's acceptance. */
  readonly timeoutMs: number;
  /** Pauses before the second and each later attempt. */
  readonly retryDelaysMs: readonly number[];
  /** Concurrent connections. */
  readonly maxConnections: number;
  /** Mails that wait for a connection or for their next attempt; more fail as `overloaded`. */
  readonly maxWaiting: number;
}

interface SmtpError extends Error {
  readonly code?: string;
  readonly responseCode?: number;
}

const failures: Readonly<Record<string, MailFailure>> = {
  EAUTH: 'login_failed',
  ENOAUTH: 'login_failed',
  ETLS: 'tls_failed',
  ETIMEDOUT: 'timed_out',
  EENVELOPE: 'message_refused',
  EMESSAGE: 'message_refused',
};

const maxReasonCharacters = 200;

/** Returns the failure with the server's words, which hold neither the password nor the text of the mail. */
function failureOf(error: SmtpError): MailResult {
  const failure = failures[error.code ?? ''] ?? 'unreachable';
  return failedMail(failure, error.message.replace(/\s+/g, ' ').slice(0, maxReasonCharacters));
}

/** A server answers 4xx when it may accept the same mail later (RFC 5321, 4.2.1). */
function mayPass({ code, responseCode }: SmtpError): boolean {
  if (responseCode !== undefined && responseCode >= 400) return responseCode < 500;
  return failures[code ?? ''] === undefined || code === 'ETIMEDOUT';
}

const timedOut = (timeoutMs: number): SmtpError =>
  Object.assign(new Error(`the SMTP server did not accept the mail within ${timeoutMs} ms`), { code: 'ETIMEDOUT' });
const closed = (): SmtpError => new Error('the mailer is closed');

/** How long a server may take to say goodbye. */
const farewellMs = 1_000;

/** Makes one attempt. Rejects with an {@link SmtpError}. */
function attempt(options: SmtpOptions, { from, to, message }: ComposedMail, signal: AbortSignal): Promise<void> {
  const { host, port, tls, login, ca, serverName = host, timeoutMs } = options;
  const connection = new SmtpConnection({
    host,
    port,
    secure: tls === 'on',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'off',
    // TLS sends names only (RFC 6066); a certificate for an address is compared with the host.
    ...(isIP(serverName) === 0 && { servername: serverName }),
    tls: { minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) },
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
  });
  return new Promise((resolve, reject) => {
    let isSettled = false;
    const timer = setTimeout(() => fail(timedOut(timeoutMs)), timeoutMs);
    const abort = () => fail(closed());
    signal.addEventListener('abort', abort, { once: true });
    const settle = () => {
      isSettled = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
    function fail(error: Error): void {
      if (isSettled) return;
      settle();
      reject(error);
      connection.close();
    }
    function succeed(): void {
      settle();
      connection.quit();
      setTimeout(() => connection.close(), farewellMs).unref();
      resolve();
    }
    const send = () => connection.send({ from, to }, message, (error) => (error ? fail(error) : succeed()));
    connection.on('error', fail);
    connection.on('end', () => fail(new Error('the SMTP server closed the connection')));
    connection.connect((error) => {
      if (error) fail(error);
      else if (login) connection.login({ user: login.username, pass: login.password }, (e) => (e ? fail(e) : send()));
      else send();
    });
  });
}

export function createSmtpSender(options: SmtpOptions): MailTransport {
  const closing = new AbortController();
  const queue: (() => void)[] = [];
  let open = 0;
  let pending = 0;

  async function withConnection(work: () => Promise<void>): Promise<void> {
    if (open >= options.maxConnections) await new Promise<void>((proceed) => queue.push(proceed));
    else open++;
    try {
      await work();
    } finally {
      const next = queue.shift();
      if (next) next();
      else open--;
    }
  }

  async function deliver(mail: ComposedMail): Promise<MailResult> {
    for (let retry = 0; ; retry++) {
      try {
        await withConnection(async () => {
          if (closing.signal.aborted) throw closed();
          await attempt(options, mail, closing.signal);
        });
        return { kind: 'sent' };
      } catch (error) {
        const pauseMs = options.retryDelaysMs[retry];
        if (pauseMs === undefined || closing.signal.aborted || !mayPass(error as SmtpError))
          return failureOf(error as SmtpError);
        // A random part keeps mails that failed together from coming back together.
        await delay(pauseMs * (1 + Math.random() / 2), undefined, { signal: closing.signal }).catch(() => {});
      }
    }
  }
  return {
    async deliver(mail) {
      if (pending >= options.maxConnections + options.maxWaiting)
        return failedMail('overloaded', 'too many mails wait for the SMTP server');
      pending++;
      try {
        return await deliver(mail);
      } finally {
        pending--;
      }
    },
    async close() {
      closing.abort();
    },
  };
}
