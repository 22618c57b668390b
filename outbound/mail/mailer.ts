/**
 * Sends plain-text mails, over SMTP or into a folder where none is configured.
 *
 * Input: one recipient, subject and text. Output: whether the mail was sent or written, or why not, as a value. Imports
 * `schemas` only.
 */
import { checkMailAddress } from './address.js';
import { failedMail, type Mailer, type MailTransport } from './mail.js';
import { createOutbox, type OutboxOptions } from './outbox.js';
import { createSmtpSender } from './smtp.js';
import type { SmtpOptions } from './smtp-attempt.js';

/** The sender, and where mails go. */
export interface MailerOptions {
  /** An address; recipients see it, and servers report failed deliveries to it. */
  readonly sender: string;
  /** Where mails go to. */
  readonly transport: { readonly smtp: SmtpOptions } | { readonly outbox: OutboxOptions };
  /** Epoch ms; default: the system's clock. */
  readonly clock?: () => number;
}

const maxTextCharacters = 100_000;
const maxSubjectCharacters = 300;

/** Creates the mailer of a process, which the caller closes. */
export function createMailer({ sender, transport, clock = Date.now }: MailerOptions): Mailer {
  const target: MailTransport =
    'smtp' in transport ? createSmtpSender(transport.smtp) : createOutbox(transport.outbox, clock);
  return {
    async send(mail) {
      const to = checkMailAddress('to', mail.to);
      if (!to.ok) return failedMail('address_refused', `${to.problem.param}: ${to.problem.rule}`);
      if (mail.text.length > maxTextCharacters || mail.subject.length > maxSubjectCharacters)
        return failedMail('message_refused', 'the subject or the text is too long');
      // Loaded for the first mail: few servers send any, and the package takes 20 ms of a start.
      const { compose } = await import('./compose.js');
      return target.deliver(await compose(sender, mail, to.value, clock()));
    },
    close: () => target.close(),
  };
}
