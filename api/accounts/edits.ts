/** Edits of accounts, and of projects by their members. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../../http/access/authority.js';
import { found } from '../../http/describe.js';
import { ApiError, fieldError } from '../../schemas/errors.js';
import type { AccountRecord } from '../../schemas/json/account.js';
import type { ProjectRecord } from '../../schemas/json/project.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Edit } from '../edits.js';

/** An edit that belongs to no record of the caller, so that it neither reads If-Match nor answers ETag. */
export const withoutRevision: {
  readonly request: Pick<FastifyRequest, 'headers'>;
  readonly reply: Pick<FastifyReply, 'header'>;
} = { request: { headers: {} }, reply: { header: () => withoutRevision.reply as FastifyReply } };

/** Returns the one answer to an unknown address and to a wrong password. */
export const wrongPassword = (): ApiError => new ApiError('unauthorized', 'the address or the password is wrong');

/**
 * Returns the answer to a wrong password of a session, whose address is known.
 * @param param the field with the password.
 */
export const wrongPasswordAt = (param: string): ApiError =>
  fieldError('unauthorized', { param, rule: 'is not the password of this account' });

/**
 * Changes the account. Throws `unauthorized` if its password has changed or it was deleted since `known` was read. The
 * caller has then proved to be somebody that the account does not know any more.
 */
export const changeAccount = (
  { configuration }: Pick<ApiDependencies, 'configuration'>,
  edit: Edit,
  known: Pick<AccountRecord, '_id' | 'generation' | 'createdAt'>,
  change: (current: AccountRecord) => AccountRecord,
): Promise<AccountRecord> =>
  edit(withoutRevision, `account/${known._id}`, (nowMs) => {
    const current = configuration.account(known._id);
    if (current?.generation !== known.generation || current.createdAt !== known.createdAt)
      throw new ApiError('unauthorized', 'the account has changed meanwhile; sign in again');
    const record = { ...change(current), updatedAt: nowMs };
    return { kind: 'account', id: known._id, record, isExisting: true, result: record };
  });

/** Returns a function that changes the project of the request's session. */
export const createProjectEditor =
  (configuration: ApiDependencies['configuration'], edit: Edit) =>
  (
    request: FastifyRequest,
    change: (project: ProjectRecord, nowMs: number) => ProjectRecord,
  ): Promise<ProjectRecord> => {
    const { project: id } = callerOf(request);
    const { confirmAuthority } = request;
    return edit({ ...withoutRevision, request: { headers: {}, confirmAuthority } }, `project/${id}`, (nowMs) => {
      const record = change(found(configuration.project(id), 'project'), nowMs);
      return { kind: 'project', id, record, isExisting: true, result: record };
    });
  };
