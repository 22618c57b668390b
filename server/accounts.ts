/** Wires sessions and accounts to the ports and the settings of a node. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { AccountParts } from '../api/accounts/dependencies.js';
import { accountLink } from '../api/accounts/mails.js';
import { createAccountParts, signInLinkTokens } from '../api/accounts/parts.js';
import { createSessions, type Sessions } from '../http/access/sessions.js';
import type { Mailer } from '../outbound/mail/mail.js';
import type { ConfigurationReader } from '../pipeline/catalog/types.js';
import type { ExpiringValues } from '../pipeline/ports.js';
import { hourMs, minuteMs } from '../schemas/durations.js';
import type { Configuration } from './config/schema.js';
import { localAddress } from './local-address.js';

/** Creates the sessions of a node. They are stored in `values`, so nothing is to be closed. */
export const createNodeSessions = (
  { accounts }: Configuration,
  parts: {
    readonly configuration: ConfigurationReader;
    readonly values: ExpiringValues;
    readonly catchUp?: () => Promise<void>;
  },
): Sessions =>
  createSessions({
    ...parts,
    clock: Date.now,
    idleMs: accounts.sessionIdleMinutes * minuteMs,
    absoluteMs: accounts.sessionMaxHours * hourMs,
    secureCookies: accounts.secureCookies,
  });

/** Returns the URL of this server: as configured, else the address that it listens on. */
function publicUrl(app: FastifyInstance, { http, host, port }: Configuration): string {
  if (http.publicUrl) return http.publicUrl;
  const bound = app.server.address();
  const actualPort = typeof bound === 'object' && bound !== null ? bound.port : port;
  return localAddress({ host, port: actualPort });
}

/** Returns a function that creates one-time links for the owner of a project. */
export const createSignInLinks =
  (app: FastifyInstance, configuration: Configuration, values: ExpiringValues) =>
  async (project: string): Promise<string> =>
    accountLink(publicUrl(app, configuration), 'signin', await signInLinkTokens(values).issue({ project }));

/** Creates the accounts of a node. The caller closes the mailer. */
export const createNodeAccounts = (
  app: FastifyInstance,
  configuration: Configuration,
  parts: {
    readonly logger: Logger;
    readonly sessions: Sessions;
    readonly values: ExpiringValues;
    readonly mailer: Mailer;
  },
): AccountParts => {
  const { accounts, signup } = configuration;
  const { logger, ...given } = parts;
  return createAccountParts({
    ...given,
    clock: Date.now,
    publicUrl: () => publicUrl(app, configuration),
    signUp: signup.enabled,
    confirmation: signup.confirmation,
    signInAttemptsPerAddress: accounts.signInAttemptsPerAddress,
    signInAttemptsPerClient: accounts.signInAttemptsPerClient,
    onMailFailure: (failure) => logger.error(failure, 'a mail was not sent'),
  });
};
