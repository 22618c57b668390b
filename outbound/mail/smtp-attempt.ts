/** Sends one mail over one connection to an SMTP server. */
import { isIP } from 'node:net';
import SmtpConnection from 'nodemailer/lib/smtp-connection';
import type { ComposedMail } from './mail.js';

/** The SMTP server, how to log in, and bounds. */
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

/** An error of the SMTP library. `responseCode` is the status of the server's answer, if there was one. */
export interface SmtpError extends Error {
  readonly code?: string;
  readonly responseCode?: number;
}

const timedOut = (timeoutMs: number): SmtpError =>
  Object.assign(new Error(`the SMTP server did not accept the mail within ${timeoutMs} ms`), { code: 'ETIMEDOUT' });

/** How long a server may take to say goodbye. */
const farewellMs = 1_000;

/** Makes one attempt. Rejects with an {@link SmtpError}, or with the reason of the signal. */
export function attempt(options: SmtpOptions, { from, to, message }: ComposedMail, signal: AbortSignal): Promise<void> {
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
    const abort = () => fail(signal.reason);
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
