/** How often an address, a client, a project or an account may attempt what accounts offer. */
import type { FastifyRequest } from 'fastify';
import type { AttemptLimit } from '../../http/access/attempts.js';
import { clientOf } from '../../http/location/address.js';
import { dayMs, hourMs, minuteMs } from '../../schemas/durations.js';
import type { AccountParts } from './dependencies.js';

const limits = {
  signUpsPerClient: { max: 20, windowMs: hourMs },
  mailsPerAddress: { max: 5, windowMs: hourMs },
  mailsPerClient: { max: 50, windowMs: hourMs },
  invitationsPerProject: { max: 200, windowMs: dayMs },
  projectsPerAccount: { max: 100, windowMs: dayMs },
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
    createProject: (account: string) =>
      attempts.count({ action: 'project-account', subject: account, limit: limits.projectsPerAccount }),
    token: (request: FastifyRequest) =>
      attempts.count({ action: 'token-client', subject: client(request), limit: limits.tokensPerClient }),
  };
}
