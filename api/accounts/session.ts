/** Whose session it is, and how answers show it. */
import { roleIn, type Session } from '../../http/access/session-store.js';
import type { ConfigurationReader } from '../../pipeline/catalog/types.js';
import { ApiError } from '../../schemas/errors.js';
import type { AccountRecord, Session as SessionJson } from '../../schemas/json/account.js';
import { isoTime } from '../../schemas/wire/common.js';
import { accountJson } from './accounts.js';

/** Returns the account of the session. Throws `forbidden` for a session of a one-time link. */
export function accountOf({ account }: Session): AccountRecord {
  if (account === null) throw new ApiError('forbidden', 'a session of a one-time link has no account: invite yourself');
  return account;
}

/**
 * Returns what answers show of a session: the account (null for a one-time link), its projects with roles, and the end.
 */
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
