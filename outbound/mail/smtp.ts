/**
 * Sends composed mails to an SMTP server: bounded in time, in concurrency and in number, and retried when the failure
 * may pass. The operator chose the server, so its address may be private.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { cutText } from '../../schemas/wording.js';
import { type ComposedMail, failedMail, type MailFailure, type MailResult, type MailTransport } from './mail.js';
import type { SmtpError, SmtpOptions } from './smtp-attempt.js';

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
  return failedMail(failure, cutText(error.message.replace(/\s+/g, ' '), maxReasonCharacters));
}

/** A server answers 4xx when it may accept the same mail later (RFC 5321, 4.2.1). */
function mayPass({ code, responseCode }: SmtpError): boolean {
  if (responseCode !== undefined && responseCode >= 400) return responseCode < 500;
  return failures[code ?? ''] === undefined || code === 'ETIMEDOUT';
}

const closed = (): SmtpError => new Error('the mailer is closed');

/** Creates the transport to an SMTP server. A mail beyond the bounds, or after the last attempt, is a failed result. */
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
          // Loaded for the first mail: few servers send any, and the package takes 20 ms of a start.
          const { attempt } = await import('./smtp-attempt.js');
          closing.signal.throwIfAborted();
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
      closing.abort(closed());
    },
  };
}
