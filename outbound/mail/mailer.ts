/**
 * Sends plain-text mails, over SMTP or into a folder where none is configured.
 *
 * Input: one recipient, subject and text. Output: whether the mail was sent or written, or why not, as a value. Imports
 * `schemas` only.
 */
import MailComposer from 'nodemailer/lib/mail-composer';
import { checkMailAddress } from './address.js';
import { type ComposedMail, failedMail, type Mail, type Mailer, type MailTransport } from './mail.js';
import { createOutbox, type OutboxOptions } from './outbox.js';
import { createSmtpSender, type SmtpOptions } from './smtp.js';

export interface MailerOptions {
  /** An address; recipients see it, and servers report failed deliveries to it. */
  readonly sender: string;
  /** Where mails go to. */
  readonly transport: { readonly smtp: SmtpOptions } | { readonly outbox: OutboxOptions };
  /** Epoch ms; default: the system's clock. */
  readonly clock?: () => number;
}

const senderName = 'Fenceline';
const maxTextCharacters = 100_000;
const maxSubjectCharacters = 300;

const maxLineBytes = 900;

/**
 * Puts ASCII text into the message as it is, so that links in files of the outbox can be copied: quoted-printable
 * breaks lines after 76 characters. SMTP allows lines of 998 bytes (RFC 5322).
 */
function withPlainText(message: Buffer, text: string): Buffer {
  const isPlain = /^[\x20-\x7e\n]*$/.test(text) && text.split('\n').every((line) => line.length <= maxLineBytes);
  if (!isPlain) return message;
  const head = message.toString('latin1', 0, message.indexOf('\r\n\r\n'));
  const plainHead = head.replace(/^(Content-Transfer-Encoding): .*$/m, '$1: 7bit');
  return Buffer.from(`${plainHead}\r\n\r\n${text.replaceAll('\n', '\r\n')}`, 'latin1');
}

/** All attempts send the same bytes with the same Message-ID, so that the recipient's server can recognise a repeat. */
async function compose(sender: string, mail: Mail, to: string, nowMs: number): Promise<ComposedMail> {
  const composer = new MailComposer({
    from: { name: senderName, address: sender },
    to,
    subject: mail.subject,
    text: mail.text,
    date: new Date(nowMs),
    // RFC 3834: responders that answer automatically leave such mails unanswered.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return { from: sender, to, message: withPlainText(await composer.compile().build(), mail.text) };
}

export function createMailer({ sender, transport, clock = Date.now }: MailerOptions): Mailer {
  const target: MailTransport =
    'smtp' in transport ? createSmtpSender(transport.smtp) : createOutbox(transport.outbox, clock);
  return {
    async send(mail) {
      const to = checkMailAddress('to', mail.to);
      if (!to.ok) return failedMail('address_refused', `${to.problem.param}: ${to.problem.rule}`);
      if (mail.text.length > maxTextCharacters || mail.subject.length > maxSubjectCharacters)
        return failedMail('message_refused', 'the subject or the text is too long');
      return target.deliver(await compose(sender, mail, to.value, clock()));
    },
    close: () => target.close(),
  };
}
