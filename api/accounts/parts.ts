/** Builds what the routes of accounts need from the ports and the settings. */
import { createAttempts } from '../../http/access/attempts.js';
import type { Sessions } from '../../http/access/sessions.js';
import type { Mailer } from '../../outbound/mail/mail.js';
import type { ExpiringValues } from '../../pipeline/ports.js';
import { hourMs } from '../../schemas/durations.js';
import type { AccountParts, PasswordReset, PendingSignUp, SignInLink } from './dependencies.js';
import { createPasswords, type PasswordCost } from './passwords.js';
import { createTokens, type Tokens } from './tokens.js';

/** How long a one-time link to sign in is valid, in ms. */
export const signInLinkTtlMs = hourMs;

/**
 * Creates the tokens of one-time sign-in links. The server issues one at its first start, before the API has its parts.
 */
export const signInLinkTokens = (values: ExpiringValues): Tokens<SignInLink> =>
  createTokens(values, 'sign-in-link', signInLinkTtlMs);

/** What accounts get from the server. The fields that they share with `AccountParts` are passed through. */
export interface AccountOptions
  extends Pick<
    AccountParts,
    'publicUrl' | 'signUp' | 'confirmation' | 'signInAttemptsPerAddress' | 'signInAttemptsPerClient'
  > {
  readonly sessions: Sessions;
  readonly values: ExpiringValues;
  readonly mailer: Pick<Mailer, 'send'>;
  /** Called for a mail that could not be sent. */
  readonly onMailFailure: (failure: object) => void;
  /** Epoch ms. */
  readonly clock: () => number;
  /** Default: the recommended cost. */
  readonly passwordCost?: PasswordCost;
}

/**
 * Creates what the routes of accounts share. A mail that could not be sent goes to `onMailFailure`; no request fails
 * for it.
 */
export function createAccountParts(options: AccountOptions): AccountParts {
  const { values, mailer, clock, onMailFailure, passwordCost, ...rest } = options;
  return {
    ...rest,
    attempts: createAttempts(values, clock),
    passwords: createPasswords(passwordCost && { cost: passwordCost }),
    signUpTokens: createTokens<PendingSignUp>(values, 'sign-up', hourMs),
    resetTokens: createTokens<PasswordReset>(values, 'password-reset', hourMs),
    linkTokens: signInLinkTokens(values),
    post(mail) {
      // Neither the address nor the text: the log is read by others than the recipient.
      mailer.send(mail).then(
        (result) => result.kind === 'failed' && onMailFailure({ failure: result.failure, reason: result.message }),
        (error: Error) => onMailFailure({ failure: 'unexpected', reason: error.message }),
      );
    },
  };
}
