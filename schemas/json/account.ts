/** JSON Schemas of accounts, of the members of projects, and of invitations. */
import Type, { type Static } from 'typebox';
import { Environment, Id, Timestamp } from './common.js';

/** An owner may do all that a secret key may, and manages members. A viewer may read all but keys and secrets. */
export const Role = Type.Enum(['owner', 'viewer']);
export type Role = Static<typeof Role>;

/**
 * An account as topic `changes` and the read model store it. Its id is derived from its address, so two sign-ups of one
 * address write the same record, and one of them is refused.
 */
export const AccountRecord = Type.Object(
  {
    _id: Id,
    email: Type.String({ maxLength: 254, description: 'In lower case' }),
    passwordHash: Type.String({ maxLength: 500, description: 'Parameters, salt and scrypt of the password' }),
    generation: Type.String({
      description:
        'Random; changes with the password and when all sessions end. Sessions and tokens of another are void',
    }),
    createdAt: Type.Integer(),
    updatedAt: Type.Integer(),
  },
  { additionalProperties: false },
);
export type AccountRecord = Static<typeof AccountRecord>;

/** A member as the project's record holds it. */
export const MemberRecord = Type.Object({
  account: Id,
  accountCreatedAt: Type.Integer({ description: 'A later account with the same address is not this member' }),
  role: Role,
  createdAt: Type.Integer(),
});
export type MemberRecord = Static<typeof MemberRecord>;

/** An invitation as the project's record holds it: the token's SHA-256, never the token. */
export const InvitationRecord = Type.Object({
  _id: Id,
  email: Type.String({ maxLength: 254 }),
  role: Role,
  sha256: Type.String({ description: '64 hex digits' }),
  createdAt: Type.Integer(),
  expiresAt: Type.Integer(),
});
export type InvitationRecord = Static<typeof InvitationRecord>;

/** An account as the API returns it. */
export const Account = Type.Object({ _id: Id, email: Type.String(), createdAt: Timestamp }, { $id: 'Account' });
export type Account = Static<typeof Account>;

/** A member of a project as the API returns it. `_id` is that of the account. */
export const Member = Type.Object(
  { _id: Id, email: Type.String(), role: Role, createdAt: Timestamp },
  { $id: 'Member' },
);
export type Member = Static<typeof Member>;

/** An open invitation as the API returns it, without its token. */
export const Invitation = Type.Object(
  { _id: Id, email: Type.String(), role: Role, createdAt: Timestamp, expiresAt: Timestamp },
  { $id: 'Invitation' },
);
export type Invitation = Static<typeof Invitation>;

/**
 * An invitation as the holder of its token sees it. Accepting it shows all of this: the answer differs for an address
 * without an account.
 */
export const ReceivedInvitation = Type.Object(
  {
    project: Type.String({ description: 'Its name' }),
    email: Type.String(),
    role: Role,
    hasAccount: Type.Boolean({ description: 'Whether the address has an account, whose password accepts it' }),
    expiresAt: Timestamp,
  },
  { $id: 'ReceivedInvitation' },
);

/** The owner of a browser's session, and the projects that it may choose. */
export const Session = Type.Object(
  {
    account: Type.Union([Account, Type.Null()], { description: 'null: signed in by a one-time link' }),
    projects: Type.Array(Type.Object({ _id: Id, name: Type.String(), role: Role })),
    environments: Type.Array(Environment),
    expiresAt: Timestamp,
  },
  { $id: 'Session' },
);
export type Session = Static<typeof Session>;

/** A browser that is signed in, as those see it who may sign it out. */
export const SignedInBrowser = Type.Object(
  {
    _id: Id,
    current: Type.Boolean({ description: 'The session of this request' }),
    project: Type.Union([Id, Type.Null()], {
      description: 'The project that it signed in to by a one-time link; null: it is signed in to the account',
    }),
    userAgent: Type.Union([Type.String(), Type.Null()], { description: 'How the browser names itself' }),
    startedAt: Timestamp,
    usedAt: Type.String({ format: 'date-time', description: 'The latest request, up to a minute ago' }),
    expiresAt: Timestamp,
  },
  { $id: 'SignedInBrowser' },
);
export type SignedInBrowser = Static<typeof SignedInBrowser>;
