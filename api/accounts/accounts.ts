/** Accounts, members and invitations as records. Pure, except for random parts. */
import { randomBytes } from 'node:crypto';
import { matchesSha256 } from '../../http/access/keys.js';
import { dayMs } from '../../schemas/durations.js';
import { ApiError } from '../../schemas/errors.js';
import { deriveId, freshId } from '../../schemas/ids.js';
import type {
  Account,
  AccountRecord,
  Invitation,
  InvitationRecord,
  MemberRecord,
  Role,
} from '../../schemas/json/account.js';
import type { ProjectRecord } from '../../schemas/json/project.js';
import { sha256Hex } from '../../schemas/sha256.js';
import { isoTime } from '../../schemas/wire/common.js';
import { newTokenText } from './tokens.js';

const maxMembers = 1_000;
const maxInvitations = 100;
const invitationTtlMs = 7 * dayMs;

/** Returns the id of the account of an address, which is in lower case. */
export const accountIdOf = (email: string): string => deriveId('account', email);

/** Returns a value that no earlier session or token of the account has. */
export const newGeneration = (): string => randomBytes(12).toString('hex');

/** Returns the record of a new account. Its id derives from the address, so an address has one account at a time. */
export const newAccount = (email: string, passwordHash: string, nowMs: number): AccountRecord => ({
  _id: accountIdOf(email),
  email,
  passwordHash,
  generation: newGeneration(),
  createdAt: nowMs,
  updatedAt: nowMs,
});

/** Returns what answers show of an account: neither the hash of its password nor its generation. */
export const accountJson = ({ _id, email, createdAt }: AccountRecord): Account => ({
  _id,
  email,
  createdAt: isoTime(createdAt),
});

/**
 * Returns the entry of an account in the members of a project. It names the time of the account, so that an account
 * which is deleted and created again is no member.
 */
export const memberOf = (account: AccountRecord, role: Role, nowMs: number): MemberRecord => ({
  account: account._id,
  accountCreatedAt: account.createdAt,
  role,
  createdAt: nowMs,
});

/** Throws `conflict` if a project that had an owner would have none: nobody could manage it any more. */
function keepsOwner(project: ProjectRecord, members: readonly MemberRecord[]): void {
  const hasOwner = (list: readonly MemberRecord[]): boolean => list.some(({ role }) => role === 'owner');
  if (hasOwner(project.members ?? []) && !hasOwner(members))
    throw new ApiError('conflict', 'the project would have no owner: make another member an owner first');
}

/** Returns the project with its members changed, and without invitations that have expired. */
function withMembers(project: ProjectRecord, members: MemberRecord[], nowMs: number): ProjectRecord {
  const invitations = (project.invitations ?? []).filter(({ expiresAt }) => expiresAt > nowMs);
  return { ...project, members, invitations, updatedAt: nowMs };
}

/**
 * Returns the project with the member's role changed; null removes the member. An open invitation of its address ends,
 * because it would undo the change. Throws 404 and 409.
 */
export function withRole(project: ProjectRecord, account: string, role: Role | null, nowMs: number): ProjectRecord {
  const members = project.members ?? [];
  const member = members.find((each) => each.account === account);
  if (member === undefined) throw new ApiError('not_found', 'there is no such member');
  const others = members.filter((each) => each !== member);
  const changed = role === null ? others : members.map((each) => (each === member ? { ...each, role } : each));
  keepsOwner(project, changed);
  const invitations = (project.invitations ?? []).filter(({ email }) => accountIdOf(email) !== account);
  return withMembers({ ...project, invitations }, changed, nowMs);
}

/** Returns the project with another member. A member that exists keeps the higher role. */
function withMember(project: ProjectRecord, account: AccountRecord, role: Role, nowMs: number): ProjectRecord {
  const members = project.members ?? [];
  const current = members.find((each) => each.account === account._id && each.accountCreatedAt === account.createdAt);
  const others = members.filter((each) => each.account !== account._id);
  if (others.length >= maxMembers) throw new ApiError('conflict', `a project has at most ${maxMembers} members`);
  const member = memberOf(account, current?.role === 'owner' ? 'owner' : role, current?.createdAt ?? nowMs);
  return withMembers(project, [...others, member], nowMs);
}

/** An invitation, and the token that its mail carries. */
interface NewInvitation {
  readonly record: InvitationRecord;
  readonly token: string;
}

const invitationToken = /^inv_([0-9a-f]{24})_[0-9a-f]{64}$/;

/** Makes an invitation. The token names the project, whose record holds the invitation. */
export function newInvitation(project: string, email: string, role: Role, nowMs: number): NewInvitation {
  const token = `inv_${project}_${newTokenText()}`;
  const times = { createdAt: nowMs, expiresAt: nowMs + invitationTtlMs };
  return { token, record: { _id: freshId(nowMs), email, role, sha256: sha256Hex(token), ...times } };
}

/** Returns the id of the project that a token names; undefined for a text of another form. */
export const projectOfInvitation = (token: string): string | undefined => invitationToken.exec(token)?.[1];

/** Returns the invitation of the token; undefined if it is unknown, used or expired. */
export const invitationOf = (project: ProjectRecord, token: string, nowMs: number): InvitationRecord | undefined =>
  project.invitations?.find(({ sha256, expiresAt }) => expiresAt > nowMs && matchesSha256(token, sha256));

/** Returns the project with the invitation, which replaces an earlier one of the address. Throws `conflict`. */
export function withInvitation(project: ProjectRecord, invitation: InvitationRecord, nowMs: number): ProjectRecord {
  const account = accountIdOf(invitation.email);
  if (project.members?.some((member) => member.account === account && member.role === 'owner'))
    throw new ApiError('conflict', 'this address belongs to an owner of the project');
  const others = (project.invitations ?? []).filter(
    ({ email, expiresAt }) => email !== invitation.email && expiresAt > nowMs,
  );
  if (others.length >= maxInvitations)
    throw new ApiError('conflict', `a project has at most ${maxInvitations} open invitations`);
  return { ...project, invitations: [...others, invitation], updatedAt: nowMs };
}

/** Returns the project without an invitation. Throws `not_found` if it has none of this id. */
export function withoutInvitation(project: ProjectRecord, id: string, nowMs: number): ProjectRecord {
  const invitations = project.invitations ?? [];
  if (!invitations.some(({ _id }) => _id === id)) throw new ApiError('not_found', 'there is no such invitation');
  return { ...project, invitations: invitations.filter(({ _id }) => _id !== id), updatedAt: nowMs };
}

/** Returns the project with the account in place of the invitation. */
export const withAccepted = (
  project: ProjectRecord,
  { _id, role }: InvitationRecord,
  account: AccountRecord,
  nowMs: number,
): ProjectRecord => withMember(withoutInvitation(project, _id, nowMs), account, role, nowMs);

/**
 * Returns the project without the account and without invitations of its address, or undefined if it holds neither.
 * Throws `conflict` if other members would be left without an owner; a project without members is left to the operator.
 */
export function withoutAccount(
  project: ProjectRecord,
  { _id, email }: AccountRecord,
  nowMs: number,
): ProjectRecord | undefined {
  const members = (project.members ?? []).filter(({ account }) => account !== _id);
  const invitations = (project.invitations ?? []).filter((invitation) => invitation.email !== email);
  const isUnchanged =
    members.length === (project.members ?? []).length && invitations.length === (project.invitations ?? []).length;
  if (isUnchanged) return undefined;
  if (members.length > 0) keepsOwner(project, members);
  return { ...project, members, invitations, updatedAt: nowMs };
}

/** Returns what answers show of an invitation. Its token is only in the mail. */
export const invitationJson = ({ _id, email, role, createdAt, expiresAt }: InvitationRecord): Invitation => ({
  _id,
  email,
  role,
  createdAt: isoTime(createdAt),
  expiresAt: isoTime(expiresAt),
});
