/** Composes plain-text mails. */
import MailComposer from 'nodemailer/lib/mail-composer';
import type { ComposedMail, Mail } from './mail.js';

const senderName = 'Fenceline';
const maxLineBytes = 900;

/**
 * Puts ASCII text into the message as it is, so that links in files of the outbox can be copied. Quoted-printable
 * breaks lines after 76 characters. SMTP allows lines of 998 bytes (RFC 5322).
 */
function withPlainText(message: Buffer, text: string): Buffer {
  const isPlain = /^[\x20-\x7e\n]*$/.test(text) && text.split('\n').every((line) => line.length <= maxLineBytes);
  if (!isPlain) return message;
  const head = message.toString('latin1', 0, message.indexOf('\r\n\r\n'));
  const plainHead = head.replace(/^(Content-Transfer-Encoding): .*$/m, '$1: 7bit');
  return Buffer.from(`${plainHead}\r\n\r\n${text.replaceAll('\n', '\r\n')}`, 'latin1');
}

/**
 * Composes a mail. All attempts send the same bytes with the same Message-ID, so that the recipient's server can
 * recognise a repeat.
 */
export async function compose(sender: string, mail: Mail, to: string, nowMs: number): Promise<ComposedMail> {
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
