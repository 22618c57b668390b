/** Mails, and the outcomes of sending them. */

/** A mail in plain text. `to` is one address. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Why a mail was not sent. Only `unreachable`, `timed_out` and `overloaded` may succeed later. */
export type MailFailure =
  | 'address_refused'
  | 'message_refused'
  | 'login_failed'
  | 'tls_failed'
  | 'unreachable'
  | 'timed_out'
  | 'overloaded'
  | 'not_written';

/** What became of a mail. */
export type MailResult =
  | { readonly kind: 'sent' }
  /** No SMTP server is configured; `file` is the mail's path. */
  | { readonly kind: 'written'; readonly file: string }
  | { readonly kind: 'failed'; readonly failure: MailFailure; readonly message: string };

/** Sends mails. A failure is a result, so `send` rejects for none. */
export interface Mailer {
  /** Resolves when the server has accepted the mail, after the last attempt, or when the file is written. */
  send(mail: Mail): Promise<MailResult>;
  /** Fails waiting and open attempts as `unreachable`. */
  close(): Promise<void>;
}

/** A mail as bytes, with the addresses that the SMTP server gets. */
export interface ComposedMail {
  readonly from: string;
  readonly to: string;
  readonly message: Buffer;
}

/** Delivers composed mails. */
export interface MailTransport {
  deliver(mail: ComposedMail): Promise<MailResult>;
  close(): Promise<void>;
}

/** Returns a text on one line, for a mail. Line breaks and control characters of a name would forge lines of it. */
export const oneLine = (text: string): string => text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();

/** Returns the result of a mail that was not sent. `message` is for people. */
export const failedMail = (failure: MailFailure, message: string): MailResult => ({ kind: 'failed', failure, message });
