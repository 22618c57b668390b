/** What the routes of accounts need. */
import type { Attempts } from '../../http/access/attempts.js';
import type { Sessions } from '../../http/access/sessions.js';
import type { Mail } from '../../outbound/mail/mail.js';
import type { Passwords } from './passwords.js';
import type { Tokens } from './tokens.js';

/** A sign-up that waits for its confirmation by mail. */
export interface PendingSignUp {
  readonly email: string;
  readonly passwordHash: string;
  readonly project: string;
}

/** `account: null`: the address has no account; its token is never sent, and resets nothing. */
export interface PasswordReset {
  readonly account: string | null;
  readonly generation: string;
}

/** Signs in as the owner of the project. */
export interface SignInLink {
  readonly project: string;
}

/** What the routes of accounts share. */
export interface AccountParts {
  readonly sessions: Sessions;
  readonly attempts: Attempts;
  readonly passwords: Passwords;
  readonly signUpTokens: Tokens<PendingSignUp>;
  readonly resetTokens: Tokens<PasswordReset>;
  readonly linkTokens: Tokens<SignInLink>;
  /** Sends a mail after the answer; failures are logged, because they would tell whether an address has an account. */
  readonly post: (mail: Mail) => void;
  /** The URL at which people reach this server, for links in mails. It never comes from a request. */
  readonly publicUrl: () => string;
  readonly signUp: 'off' | 'on';
  /** `mail`: a sign-up creates nothing until the link in a mail is used. */
  readonly confirmation: 'off' | 'mail';
  readonly signInAttemptsPerAddress: number;
  readonly signInAttemptsPerClient: number;
}
