/** What the routes of accounts need, and what they share. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { type AttemptLimit, type Attempts, clientOf } from '../../http/access/attempts.js';
import { roleIn, type Session, type Sessions } from '../../http/access/sessions.js';
import { accepted, FieldReader } from '../../http/fields/reader.js';
import { type FieldTable, field, readTable, refuseUnknown, required, type ValuesOf } from '../../http/fields/table.js';
import { checkMailAddress } from '../../outbound/mail/address.js';
import type { Mail } from '../../outbound/mail/mail.js';
import type { ConfigurationReader } from '../../pipeline/catalog/types.js';
import { ApiError } from '../../schemas/errors.js';
import type { AccountRecord, Session as SessionJson } from '../../schemas/json/account.js';
import { isoTime } from '../../schemas/wire/common.js';
import { bodyFields } from '../describe.js';
import { accountJson } from './accounts.js';
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

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const limits = {
  signUpsPerClient: { max: 20, windowMs: hourMs },
  mailsPerAddress: { max: 5, windowMs: hourMs },
  mailsPerClient: { max: 50, windowMs: hourMs },
  invitationsPerProject: { max: 200, windowMs: dayMs },
  tokensPerClient: { max: 100, windowMs: 15 * minuteMs },
} as const satisfies Record<string, AttemptLimit>;

const perQuarter = (max: number): AttemptLimit => ({ max, windowMs: 15 * minuteMs });

/** Counts what a request attempts. The limit of the client comes first: a refused client locks no address. */
export function createLimits({
  attempts,
  signInAttemptsPerAddress,
  signInAttemptsPerClient,
}: Pick<AccountParts, 'attempts' | 'signInAttemptsPerAddress' | 'signInAttemptsPerClient'>) {
  const client = (request: FastifyRequest): string => clientOf(request.ip);
  return {
    signIn: (request: FastifyRequest, email: string) =>
      attempts.count(
        { action: 'sign-in-client', subject: client(request), limit: perQuarter(signInAttemptsPerClient) },
        { action: 'sign-in-address', subject: email, limit: perQuarter(signInAttemptsPerAddress) },
      ),
    signUp: (request: FastifyRequest, email: string) =>
      attempts.count(
        { action: 'sign-up-client', subject: client(request), limit: limits.signUpsPerClient },
        { action: 'mail-address', subject: email, limit: limits.mailsPerAddress },
      ),
    reset: (request: FastifyRequest, email: string) =>
      attempts.count(
        { action: 'mail-client', subject: client(request), limit: limits.mailsPerClient },
        { action: 'mail-address', subject: email, limit: limits.mailsPerAddress },
      ),
    invite: (project: string, email: string) =>
      attempts.count(
        { action: 'invite-project', subject: project, limit: limits.invitationsPerProject },
        { action: 'mail-address', subject: email, limit: limits.mailsPerAddress },
      ),
    token: (request: FastifyRequest) =>
      attempts.count({ action: 'token-client', subject: client(request), limit: limits.tokensPerClient }),
  };
}
export type Limits = ReturnType<typeof createLimits>;

const maxEmailCharacters = 254;
const maxPasswordCharacters = 256;
const maxTokenCharacters = 200;

/** A mail address, in lower case: `Ada@` and `ada@` are one person. */
export const emailField = required(
  field(
    (reader, name) => {
      const given = reader.text(name, maxEmailCharacters);
      return given === null ? null : (reader.take(checkMailAddress(name, given))?.toLowerCase() ?? null);
    },
    Type.String({ format: 'email', maxLength: maxEmailCharacters }),
  ),
);

export const passwordField = required(
  field(
    (reader, name) => reader.text(name, maxPasswordCharacters),
    Type.String({ format: 'password', maxLength: maxPasswordCharacters }),
  ),
);

export const tokenField = required(
  field((reader, name) => reader.text(name, maxTokenCharacters), Type.String({ maxLength: maxTokenCharacters })),
);

/** Reads a body that has exactly the fields of the table. */
export function readBody<const Table extends FieldTable>(request: FastifyRequest, table: Table): ValuesOf<Table> {
  const fields = bodyFields(request.body);
  const reader = new FieldReader(fields);
  refuseUnknown(reader, table, fields);
  const values = readTable(reader, table);
  return accepted(reader.outcome(() => values));
}

/** An edit that belongs to no record of the caller, so that it neither reads If-Match nor answers ETag. */
export const quietly: {
  readonly request: Pick<FastifyRequest, 'headers'>;
  readonly reply: Pick<FastifyReply, 'header'>;
} = { request: { headers: {} }, reply: { header: () => quietly.reply as FastifyReply } };

/** The one answer to every wrong token, used or not. */
export const wrongToken = (): ApiError => new ApiError('unauthorized', 'the token is unknown, used or expired');

/** Returns the account of the session. Throws `forbidden` for a session of a one-time link. */
export function accountOf({ account }: Session): AccountRecord {
  if (account === null) throw new ApiError('forbidden', 'a session of a one-time link has no account: invite yourself');
  return account;
}

export function sessionJson(session: Session, configuration: Pick<ConfigurationReader, 'projects'>): SessionJson {
  const projects = configuration.projects().flatMap((project) => {
    const role = roleIn(session, project);
    return role === undefined ? [] : [{ _id: project._id, name: project.name, role }];
  });
  return {
    account: session.account && accountJson(session.account),
    projects,
    environments: ['test', 'live'],
    expiresAt: isoTime(session.expiresAtMs),
  };
}
